import { InputError } from '../errors/input-error.ts';
import { byText, ownValue, type Selector, selectorOf } from './selector.ts';

/** FieldRequirement is one condition of a field selector. */
export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/**
 * parseFieldSelector parses a field selector: `metadata.name=a,status.phase!=Running`. In values, `\` escapes a
 * following comma, equals sign or backslash. A missing field of an object counts as empty. It does not check which
 * fields a kind has.
 */
export function parseFieldSelector(text: string): Selector<FieldRequirement> {
  const terms = text.match(/(?:\\.|[^,\\])+\\?|\\/gs) ?? [];
  const requirements = terms
    .sort(byText)
    .map((term) => parseTerm(text, term))
    // The API server treats a term that is only an operator as selecting everything, whichever operator it is.
    .filter(({ field, value }) => field !== '' || value !== '')
    .sort((a, b) => byText(write(a), write(b)));
  return selectorOf({ requirements, check, write });
}

function parseTerm(text: string, term: string): FieldRequirement {
  const match = /^(.*?)(!=|==?)(.*)$/s.exec(term);
  if (!match) throw invalid(text, `invalid selector: '${text}'; can't understand '${term}'`);
  const [, field = '', operator, raw = ''] = match;
  return Object.freeze({ field, operator: operator === '!=' ? '!=' : '=', value: unescapeValue(text, raw) });
}

function unescapeValue(text: string, raw: string): string {
  return raw.replace(/\\(.?)|[,=]/gsu, (found, escaped: string | undefined) => {
    // The server prints the code of the character.
    if (escaped === undefined)
      throw invalid(text, `invalid field selector: unescaped character in value: ${found.charCodeAt(0)}`);
    if (!['\\', ',', '='].includes(escaped))
      throw invalid(text, `invalid field selector: invalid escape sequence: ${found}`);
    return escaped;
  });
}

/** escapeFieldValue escapes a text for use as the value of a field selector. */
export function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, String.raw`\$&`);
}

function check(
  { field, operator, value }: FieldRequirement,
  fields: Readonly<Record<string, string | undefined>>,
): boolean {
  return ((ownValue(fields, field) ?? '') === value) === (operator === '=');
}

function write({ field, operator, value }: FieldRequirement): string {
  return `${field}${operator}${escapeFieldValue(value)}`;
}

function invalid(text: string, detail: string): InputError {
  return new InputError('BOWLINE_SELECTOR_INVALID', 'the field selector', text, detail);
}
