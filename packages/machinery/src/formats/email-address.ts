const ATOM_CHARACTERS = "A-Za-z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\u{10ffff}\\-";
const ATOM = `[${ATOM_CHARACTERS}]+`;
const QUOTED = '"(?:[^"\\\\\\u0000-\\u001f\\u007f]|\\\\[^\\u0000-\\u001f\\u007f])*"';

const ADDRESS = new RegExp(
  `^(?:${ATOM}(?:\\.${ATOM})*|${QUOTED})@(?:${ATOM}(?:\\.${ATOM})*|\\[[^\\[\\]\\\\]*\\])$`,
  'u',
);
// One character at a time, so that there is only one way to match: nested repetition would take exponential time.
const PHRASE = new RegExp(`^(?:[${ATOM_CHARACTERS}. \\t]|${QUOTED})*$`, 'u');

// RFC 5321 limits the address to 254; a display name may precede it.
const MAX_LENGTH = 1_000;

/**
 * isEmailAddress reports whether Go's `mail.ParseAddress` accepts a text: `a@b`, or `Name <a@b>`. Comments and encoded
 * words, which do not occur in manifests, are rejected here.
 */
export function isEmailAddress(text: string): boolean {
  if (text.length > MAX_LENGTH) return false;
  const trimmed = text.replace(/^[ \t]+|[ \t]+$/g, '');
  const open = trimmed.lastIndexOf('<');
  if (open < 0 || !trimmed.endsWith('>')) return ADDRESS.test(trimmed);
  return (
    PHRASE.test(trimmed.slice(0, open)) && ADDRESS.test(trimmed.slice(open + 1, -1).replace(/^[ \t]+|[ \t]+$/g, ''))
  );
}
