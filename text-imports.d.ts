/** Files that are imported as their text, with `{ type: "text" }`. */
declare module "*.svg" {
  const text: string;
  export default text;
}
declare module "*.css" {
  const text: string;
  export default text;
}
declare module "*.service" {
  const text: string;
  export default text;
}
declare module "*.timer" {
  const text: string;
  export default text;
}
declare module "*.default" {
  const text: string;
  export default text;
}
declare module "*.sql" {
  const text: string;
  export default text;
}
declare module "*/embed.js" {
  const text: string;
  export default text;
}
