/** A client is told no more characters than this, all warnings together; beyond it, the beginning of each. */
const MOST_CHARACTERS = 4_096;
const SHORTENED = 256;

/**
 * warningHeaders are the `Warning` headers of texts, as the API server sends them: each text once, none that holds control
 * characters, and in UTF-8, whose bytes stand for one character each: Node takes no others in a header.
 */
export function warningHeaders(warnings: Iterable<string>): string[] {
  const texts = [...new Set(warnings)].filter((text) => text !== '' && !/\p{Cc}/u.test(text));
  // Whole characters are counted, not the halves that make up some of them here.
  const isShort = texts.reduce((sum, text) => sum + [...text].length, 0) <= MOST_CHARACTERS;
  if (isShort) return texts.map(headerOf);
  const headers: string[] = [];
  let told = 0;
  for (const text of texts) {
    if (told >= MOST_CHARACTERS) break;
    const beginning = [...text].slice(0, SHORTENED);
    headers.push(headerOf(beginning.join('')));
    told += beginning.length;
  }
  return headers;
}

function headerOf(text: string): string {
  return Buffer.from(`299 - "${text.replace(/["\\]/g, '\\$&')}"`).toString('latin1');
}
