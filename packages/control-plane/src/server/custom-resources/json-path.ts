/** JsonPath returns the values in a document that match, in order. */
export type JsonPath = (document: unknown) => unknown[];

/** Step returns the values one step below a value. */
type Step = (value: unknown, root: unknown) => unknown[];

/** How many values a path may match on its way. `..` and filters grow quickly, and a column shows only one. */
const MAX_VALUES = 10_000;

/**
 * parseJsonPath parses a path in the dialect of kubectl: `.a.b`, `['a.b']`, `.a\.b`, `[0]`, `[-1]`, `[1:3]`, `[*]`,
 * `.*`, `..a`, `[0,2]`, `['a','b']` and `[?(@.a=="x")]` with ==, !=, <, <=, >, >= or only the path. Missing values are
 * not matched. It returns undefined for text that is not a path.
 */
export function parseJsonPath(text: string): JsonPath | undefined {
  const steps = new Reader(text).steps();
  return steps && ((document) => walk(steps, document, document));
}

function walk(steps: readonly Step[], value: unknown, root: unknown): unknown[] {
  let found: unknown[] = [value];
  for (const step of steps) {
    found = found.flatMap((each) => step(each, root)).slice(0, MAX_VALUES);
    if (found.length === 0) break;
  }
  return found;
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  steps(): Step[] | undefined {
    const steps: Step[] = [];
    if (this.#text.startsWith('$')) this.#at++;
    while (this.#at < this.#text.length) {
      const step = this.#step();
      if (!step) return undefined;
      if (step !== 'self') steps.push(step);
    }
    return steps;
  }

  #step(): Step | 'self' | undefined {
    if (this.#text.startsWith('..', this.#at)) {
      this.#at += 2;
      const name = this.#name();
      return name === undefined ? undefined : (value) => descendants(value, name);
    }
    if (this.#text[this.#at] === '[') return this.#bracket();
    if (this.#text[this.#at] !== '.') return undefined;
    this.#at++;
    if (this.#at === this.#text.length || this.#text[this.#at] === '[') return 'self';
    const name = this.#name();
    return name === undefined ? undefined : member(name);
  }

  /** A name ends at a dot or bracket, unless it is escaped by a backslash. */
  #name(): string | undefined {
    const [whole] = /^(?:\\.|[^.[\]\\ {}])+/.exec(this.#text.slice(this.#at)) ?? [];
    if (whole === undefined) return undefined;
    this.#at += whole.length;
    return whole.replace(/\\(.)/g, '$1');
  }

  #bracket(): Step | undefined {
    const rest = this.#text.slice(this.#at);
    const filter = /^\[\?\(((?:[^"')]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*)\)\]/.exec(rest);
    if (filter) {
      this.#at += filter[0].length;
      return parseFilter(filter[1] ?? '');
    }
    const plain = /^\[((?:[^'"\]]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*)\]/.exec(rest);
    if (!plain) return undefined;
    this.#at += plain[0].length;
    const parts = (plain[1] ?? '').match(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,]+/g) ?? [];
    const steps = parts.map((part) => parsePart(part.trim()));
    if (steps.length === 0 || steps.some((step) => !step)) return undefined;
    return (value, root) => steps.flatMap((step) => step?.(value, root) ?? []);
  }
}

function parsePart(part: string): Step | undefined {
  if (part === '*') return (value) => members(value);
  const name = unquoted(part);
  if (name !== undefined) return member(name);
  const slice = /^(-?\d+)?(?::(-?\d+)?(?::(\d+))?)?$/.exec(part);
  if (!slice || part === '') return undefined;
  if (!part.includes(':')) {
    const index = Number(part);
    return (value) => (Array.isArray(value) && Math.abs(index) <= value.length ? value.slice(index).slice(0, 1) : []);
  }
  const [, from, to, every] = slice;
  const step = Math.max(1, Number(every ?? 1));
  return (value) => {
    if (!Array.isArray(value)) return [];
    const chosen = value.slice(Number(from ?? 0), to === undefined ? undefined : Number(to));
    return chosen.filter((_, index) => index % step === 0);
  };
}

function member(name: string): Step {
  if (name === '*') return (value) => members(value);
  return (value) => {
    // kubectl finds a field in the elements of a list only through `[*]`.
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return [];
    return [(value as Record<string, unknown>)[name]];
  };
}

function members(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}

function descendants(value: unknown, name: string): unknown[] {
  const found = member(name)(value, value);
  for (const each of members(value)) {
    if (found.length >= MAX_VALUES) break;
    if (typeof each === 'object' && each !== null) for (const inner of descendants(each, name)) found.push(inner);
  }
  return found;
}

const OPERATORS: Readonly<Record<string, (a: unknown, b: unknown) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => compare(a, b) < 0,
  '<=': (a, b) => compare(a, b) <= 0,
  '>': (a, b) => compare(a, b) > 0,
  '>=': (a, b) => compare(a, b) >= 0,
};

/** compare returns NaN, which is neither less nor greater, for values of different types. */
function compare(a: unknown, b: unknown): number {
  if (typeof a !== typeof b || (typeof a !== 'number' && typeof a !== 'string')) return Number.NaN;
  return a < (b as typeof a) ? -1 : a === b ? 0 : 1;
}

type Operand = (value: unknown, root: unknown) => unknown[];

function parseFilter(text: string): Step | undefined {
  const parts = /^\s*((?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^"'=!<>])*?)\s*(?:(==|!=|<=|>=|<|>)\s*(.*?))?\s*$/s.exec(
    text,
  );
  const left = parts?.[1] === undefined ? undefined : parseOperand(parts[1]);
  if (!left) return undefined;
  const test = OPERATORS[parts?.[2] ?? ''];
  const right = test && parseOperand(parts?.[3] ?? '');
  if (test && !right) return undefined;
  return (value, root) => {
    const candidates = members(value);
    return candidates.filter((each) => {
      const [a] = left(each, root);
      if (a === undefined) return false;
      if (!test || !right) return true;
      const [b] = right(each, root);
      return b !== undefined && test(a, b);
    });
  };
}

function parseOperand(text: string): Operand | undefined {
  const literal = unquoted(text);
  if (literal !== undefined) return () => [literal];
  if (text === 'true' || text === 'false') return () => [text === 'true'];
  if (/^-?\d+(\.\d+)?$/.test(text)) return () => [Number(text)];
  if (!text.startsWith('@') && !text.startsWith('$')) return undefined;
  const steps = new Reader(text.slice(1)).steps();
  return steps && ((value, root) => walk(steps, text.startsWith('$') ? root : value, root));
}

function unquoted(text: string): string | undefined {
  const quoted = /^(["'])(.*)\1$/s.exec(text);
  return quoted?.[2]?.replace(/\\(.)/g, '$1');
}
