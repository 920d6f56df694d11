/** What draws nothing by itself: blanks, marks without a letter, and what Unicode ignores. */
const unseen = /[\p{White_Space}\p{M}\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** True for a text with a character that can be seen. */
export function isVisible(text: string): boolean {
  return text.replace(unseen, "") !== "";
}
