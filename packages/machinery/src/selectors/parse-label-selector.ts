import { InputError } from '../errors/input-error.ts';
import { describeProblems, invalidValue } from '../validation/field-problem.ts';
import { type LabelOperator, type LabelRequirement, labelSelectorOf, valueProblems } from './label-requirement.ts';
import { labelKeyProblems } from './label-syntax.ts';
import { byText, type Selector } from './selector.ts';

/**
 * parseLabelSelector parses a label selector as in a URL or after `kubectl -l`: `app=web,tier in (a,b),!old`. The empty
 * text selects everything. It rejects what the API server rejects, with the same messages.
 *
 * @example
 * parseLabelSelector('app=web,tier notin (cache)').matches({ app: 'web' }); // true
 */
export function parseLabelSelector(text: string): Selector<LabelRequirement> {
  try {
    return labelSelectorOf(parse(tokensOf(text)));
  } catch (error) {
    if (!(error instanceof Unexpected)) throw error;
    throw new InputError('BOWLINE_SELECTOR_INVALID', 'the label selector', text, error.message);
  }
}

/** A syntax error with the API server's message; it is caught and rethrown as an InputError. */
class Unexpected extends Error {}

const END = '';
const SYMBOLS: ReadonlySet<string> = new Set(['=', '==', '!=', '!', '(', ')', ',', '<', '>']);
const OPERATORS: ReadonlyMap<string, LabelOperator> = new Map([
  ['=', '='],
  ['==', '='],
  ['!=', '!='],
  ['in', 'in'],
  ['notin', 'notin'],
  ['<', '<'],
  ['>', '>'],
]);

interface Tokens {
  peek(): string;
  next(): string;
}

function tokensOf(text: string): Tokens {
  const all = text.match(/==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+/g) ?? [];
  let position = 0;
  return { peek: () => all[position] ?? END, next: () => all[position++] ?? END };
}

/** Any token that is not a symbol is a word: a key, a value, or `in` and `notin`, which may also be keys and values. */
function isWord(token: string): boolean {
  return token !== END && !SYMBOLS.has(token);
}

function startsRequirement(token: string): boolean {
  return isWord(token) || token === '!';
}

function parse(tokens: Tokens): LabelRequirement[] {
  const requirements: LabelRequirement[] = [];
  if (tokens.peek() === END) return requirements;
  if (!startsRequirement(tokens.peek()))
    throw new Unexpected(`found '${tokens.peek()}', expected: !, identifier, or 'end of string'`);
  for (;;) {
    requirements.push(within('unable to parse requirement', () => parseRequirement(tokens)));
    const separator = tokens.next();
    if (separator === END) return requirements;
    if (separator !== ',') throw new Unexpected(`found '${separator}', expected: ',' or 'end of string'`);
    if (!startsRequirement(tokens.peek()))
      throw new Unexpected(`found '${tokens.peek()}', expected: identifier after ','`);
  }
}

function within<T>(attempt: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw error instanceof Unexpected ? new Unexpected(`${attempt}: ${error.message}`) : error;
  }
}

function parseRequirement(tokens: Tokens): LabelRequirement {
  const isNegated = tokens.peek() === '!';
  if (isNegated) tokens.next();
  const key = tokens.next();
  if (!isWord(key)) throw new Unexpected(`found '${key}', expected: identifier`);
  const problems = labelKeyProblems(key);
  // The server has no field name here and prints its empty path.
  if (problems.length > 0) throw new Unexpected(describeProblems([invalidValue('<nil>', key, problems.join('; '))]));
  if (isNegated) return { key, operator: '!', values: [] };
  if (tokens.peek() === END || tokens.peek() === ',') return { key, operator: 'exists', values: [] };
  const operator = parseOperator(tokens);
  const isSet = operator === 'in' || operator === 'notin';
  const requirement = { key, operator, values: isSet ? parseSet(tokens) : [parseValue(tokens)] };
  const wrong = valueProblems(requirement);
  if (wrong.length > 0) throw new Unexpected(describeProblems(wrong));
  return requirement;
}

function parseOperator(tokens: Tokens): LabelOperator {
  const token = tokens.next();
  const operator = OPERATORS.get(token);
  if (!operator) throw new Unexpected(`found '${token}', expected: in, notin, =, ==, !=, gt, lt`);
  return operator;
}

/** The value of a comparison may be omitted: `a=` and `a=,b` compare with the empty text. */
function parseValue(tokens: Tokens): string {
  if (tokens.peek() === END || tokens.peek() === ',') return '';
  const token = tokens.next();
  if (!isWord(token)) throw new Unexpected(`found '${token}', expected: identifier`);
  return token;
}

/** A set contains words separated by commas; a missing word is the empty text. */
function parseSet(tokens: Tokens): string[] {
  const open = tokens.next();
  if (open !== '(') throw new Unexpected(`found '${open}' expected: '('`);
  const first = tokens.peek();
  if (!isWord(first) && first !== ',' && first !== ')')
    throw new Unexpected(`found '${first}', expected: ',', ')' or identifier`);
  const values: string[] = [];
  for (;;) {
    if (isWord(tokens.peek())) values.push(tokens.next());
    else if (tokens.peek() === ',' || tokens.peek() === ')') values.push('');
    else throw new Unexpected(`found '${tokens.peek()}', expected: ',', or identifier`);
    const separator = tokens.peek();
    if (separator !== ',' && separator !== ')') throw new Unexpected(`found '${separator}', expected: ',' or ')'`);
    tokens.next();
    if (separator === ')') return [...new Set(values)].sort(byText);
  }
}
