/** RFC 9110, section 11.4: a scheme in any case, one space or more, and the token. */
const anyBearer = /^bearer +(?! )/i;

/**
 * The credential in an Authorization header, "" if it has none for us, and undefined without the
 * header. `token` is what the bearer plugin found: it covers one spelling of the scheme, and the
 * query, which is not for credentials.
 */
export function credentialOf(
  authorization: string | undefined,
  token?: string,
): string | undefined {
  if (authorization === undefined) return undefined;
  if (token !== undefined && authorization.startsWith("Bearer ") && !token.startsWith(" ")) {
    return token;
  }
  return anyBearer.test(authorization) ? authorization.replace(anyBearer, "") : "";
}
