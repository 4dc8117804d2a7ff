/** Glob is a compiled pattern: compile once, match often. */
export interface Glob {
  readonly pattern: string;
  /** matches reports whether the pattern matches the whole text. */
  matches(text: string): boolean;
}

const STAR = 0;
const DOUBLE_STAR = 1;
const ANY_CHARACTER = 2;
/** A literal character is its code point plus this offset, so that it does not collide with the tokens above. */
const LITERAL = 3;
const SLASH = 0x2f;

/**
 * glob compiles a pattern in which `*` matches any characters but `/`, `**` any characters and `?` one character;
 * nothing else is special, so every text is a valid pattern. Matching is linear in the text, and takes at most the
 * length of the text times the length of the pattern: no pattern makes it hang.
 *
 * @example
 * glob('team-*').matches('team-blue'); // true
 */
export function glob(pattern: string): Glob {
  if (!/[*?]/.test(pattern)) return { pattern, matches: (text) => text === pattern };
  const tokens = tokensOf(pattern);
  return { pattern, matches: (text) => run(tokens, text) };
}

function tokensOf(pattern: string): readonly number[] {
  return Array.from(pattern.matchAll(/\*+|[^*]/gsu), ([part]) => {
    if (part === '*') return STAR;
    if (part.startsWith('*')) return DOUBLE_STAR;
    return part === '?' ? ANY_CHARACTER : LITERAL + (part.codePointAt(0) ?? 0);
  });
}

/** Follows all possible matches at once: `reached[i]` is 1 if the first i tokens match the text so far. */
function run(tokens: readonly number[], text: string): boolean {
  let reached = new Uint8Array(tokens.length + 1);
  let next = new Uint8Array(tokens.length + 1);
  reached[0] = 1;
  skipStars(tokens, reached);
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    let isAlive = false;
    next.fill(0);
    for (const [index, token] of tokens.entries()) {
      if (reached[index] === 0) continue;
      const stays = token === DOUBLE_STAR || (token === STAR && point !== SLASH);
      const advances = token === ANY_CHARACTER || token === LITERAL + point;
      if (stays) next[index] = 1;
      if (advances) next[index + 1] = 1;
      isAlive ||= stays || advances;
    }
    if (!isAlive) return false;
    skipStars(tokens, next);
    [reached, next] = [next, reached];
  }
  return reached[tokens.length] === 1;
}

/** Stars also match the empty text. */
function skipStars(tokens: readonly number[], reached: Uint8Array): void {
  for (const [index, token] of tokens.entries()) {
    if (reached[index] === 1 && (token === STAR || token === DOUBLE_STAR)) reached[index + 1] = 1;
  }
}

/**
 * anyGlob compiles several patterns into a function that reports whether any of them matches a text. It returns false
 * if there are no patterns.
 */
export function anyGlob(patterns: readonly string[]): (text: string) => boolean {
  const globs = patterns.map(glob);
  return (text) => globs.some((each) => each.matches(text));
}
