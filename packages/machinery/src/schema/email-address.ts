const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\u{10ffff}-]+";
const QUOTED = '"(?:[^"\\\\\\u0000-\\u001f\\u007f]|\\\\[^\\u0000-\\u001f\\u007f])*"';
const LOCAL = `(?:${ATOM}(?:\\.${ATOM})*|${QUOTED})`;
const DOMAIN = `(?:${ATOM}(?:\\.${ATOM})*|\\[[^\\[\\]\\\\]*\\])`;
const NAME = `(?:(?:${ATOM}(?:\\.+${ATOM})*\\.?|${QUOTED})[ \\t]*)*`;

const BARE = new RegExp(`^[ \\t]*${LOCAL}@${DOMAIN}[ \\t]*$`, 'u');
const NAMED = new RegExp(`^[ \\t]*${NAME}<[ \\t]*${LOCAL}@${DOMAIN}[ \\t]*>[ \\t]*$`, 'u');

// RFC 5321 has 254 for the address; a display name may come before it.
const LONGEST = 1_000;

/**
 * isEmailAddress tells whether Go's `mail.ParseAddress` takes a text: `a@b`, or `Name <a@b>`. Comments and encoded words,
 * which nobody writes into a manifest, are refused here.
 */
export function isEmailAddress(text: string): boolean {
  return text.length <= LONGEST && (BARE.test(text) || NAMED.test(text));
}
