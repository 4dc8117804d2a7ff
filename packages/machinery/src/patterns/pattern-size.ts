/** A Unicode class is a table of hundreds of ranges. */
const UNICODE_CLASS = 20;

const REPETITION = /\{(\d+)(?:(,)(\d*))?\}/y;

interface Level {
  /** The size of everything before the last part. */
  size: number;
  /** The size of the last part, to which a repetition applies. */
  last: number;
}

/**
 * patternSize returns the approximate number of instructions of an RE2 pattern, which determines the cost of compiling
 * it. It only scans the pattern once: a few characters can require millions of instructions.
 */
export function patternSize(pattern: string): number {
  const enclosing: Level[] = [];
  let level: Level = { size: 0, last: 0 };
  const add = (size: number): void => {
    level = { size: level.size + level.last, last: size };
  };
  const close = (): void => {
    const inner = level.size + level.last;
    level = enclosing.pop() ?? { size: 0, last: 0 };
    add(inner + 2);
  };
  for (let at = 0; at < pattern.length; ) {
    const start = at;
    at = endOfPart(pattern, start);
    const part = pattern.slice(start, at);
    if (part === '(') {
      enclosing.push(level);
      level = { size: 0, last: 0 };
    } else if (part === ')') close();
    else if (part === '*' || part === '+' || part === '?') level.last += 1;
    else if (part.startsWith('{') && part.length > 1) level.last *= Math.max(1, repetitionCount(part));
    else add(/\\[pP]/.test(part) ? UNICODE_CLASS : 1);
  }
  while (enclosing.length > 0) close();
  return level.size + level.last;
}

/** Returns the end of a part: an escape, a class, a repetition, or one character. */
function endOfPart(pattern: string, start: number): number {
  if (pattern[start] === '\\') {
    const isNamed = /[pPx]/.test(pattern.charAt(start + 1)) && pattern[start + 2] === '{';
    return isNamed ? endAfter(pattern, '}', start + 3) : start + (/[pP]/.test(pattern.charAt(start + 1)) ? 3 : 2);
  }
  if (pattern[start] === '[') return endOfClass(pattern, start);
  REPETITION.lastIndex = start;
  return REPETITION.test(pattern) ? REPETITION.lastIndex : start + 1;
}

/** `]` is a member of the class if it comes first. */
function endOfClass(pattern: string, start: number): number {
  let at = start + (pattern[start + 1] === '^' ? 2 : 1);
  if (pattern[at] === ']') at++;
  for (; at < pattern.length && pattern[at] !== ']'; at++) {
    if (pattern[at] === '\\') at++;
    else if (pattern.startsWith('[:', at)) at = endAfter(pattern, ':]', at + 2) - 1;
  }
  return at + 1;
}

/** An unclosed part extends to the end. */
function endAfter(pattern: string, end: string, start: number): number {
  const found = pattern.indexOf(end, start);
  return found < 0 ? pattern.length : found + end.length;
}

function repetitionCount(repetition: string): number {
  const [, min = '0', open, max = ''] = /^\{(\d+)(?:(,)(\d*))?\}$/.exec(repetition) ?? [];
  if (open === undefined) return Number(min);
  return max === '' ? Number(min) + 1 : Math.max(Number(min), Number(max));
}
