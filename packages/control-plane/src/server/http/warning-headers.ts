/** The limit for the characters of all warnings together; beyond it, each is shortened. */
const MAX_CHARACTERS = 4_096;
const SHORTENED = 256;

/**
 * warningHeaders returns the `Warning` headers of texts, as the API server sends them: without duplicates and texts
 * with control characters, and in UTF-8 with one character per byte, because Node accepts no others in a header.
 */
export function warningHeaders(warnings: Iterable<string>): string[] {
  const texts = [...new Set(warnings)].filter((text) => text !== '' && !/\p{Cc}/u.test(text));
  // Whole characters are counted, not the surrogates that make up some of them in JavaScript.
  const isShort = texts.reduce((sum, text) => sum + [...text].length, 0) <= MAX_CHARACTERS;
  if (isShort) return texts.map(headerOf);
  const headers: string[] = [];
  let written = 0;
  for (const text of texts) {
    if (written >= MAX_CHARACTERS) break;
    const beginning = [...text].slice(0, SHORTENED);
    headers.push(headerOf(beginning.join('')));
    written += beginning.length;
  }
  return headers;
}

function headerOf(text: string): string {
  return Buffer.from(`299 - "${text.replace(/["\\]/g, '\\$&')}"`).toString('latin1');
}
