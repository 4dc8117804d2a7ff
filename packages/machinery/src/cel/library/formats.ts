import { formatCheck } from '../../formats/formats.ts';
import { labelKeyProblems, labelValueProblems } from '../../selectors/label-syntax.ts';
import { dns1035LabelProblems, dnsLabelProblems, dnsSubdomainProblems } from '../../validation/dns-names.ts';
import { overload } from '../overloads.ts';
import { FormatValue, ListValue, NONE, OptionalValue } from '../values.ts';

type Problems = (text: string) => readonly string[];

/** A prefix may end with a dash, because a suffix will be appended. */
function ofPrefix(problems: Problems): Problems {
  return (text) => problems(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text);
}

function checked(format: string, problem: string): Problems {
  return (text) => (formatCheck(format)?.(text) === true ? [] : [problem]);
}

const FORMATS: ReadonlyMap<string, FormatValue> = new Map(
  (
    [
      ['dns1123Label', dnsLabelProblems],
      ['dns1123Subdomain', dnsSubdomainProblems],
      ['dns1035Label', dns1035LabelProblems],
      ['qualifiedName', labelKeyProblems],
      ['dns1123LabelPrefix', ofPrefix(dnsLabelProblems)],
      ['dns1123SubdomainPrefix', ofPrefix(dnsSubdomainProblems)],
      ['dns1035LabelPrefix', ofPrefix(dns1035LabelProblems)],
      ['labelValue', labelValueProblems],
      ['uri', checked('uri', 'it is neither an absolute URI nor an absolute path')],
      ['uuid', checked('uuid', 'does not match the UUID format')],
      ['byte', checked('byte', 'invalid base64')],
      ['date', checked('date', 'invalid date')],
      ['datetime', checked('datetime', 'invalid datetime')],
    ] as const
  ).map(([name, problems]) => [name, new FormatValue(name, problems)]),
);

function validate(format: FormatValue, text: string): OptionalValue {
  const problems = format.problems(text);
  return problems.length === 0 ? NONE : new OptionalValue(new ListValue(problems));
}

/**
 * formats holds the named checks of text: `format.dns1123Label().validate(self).hasValue()` is true for invalid text.
 */
export const formats = [
  overload('format.named::(string): optional<format>', (name: string) => {
    const format = FORMATS.get(name);
    return format === undefined ? NONE : new OptionalValue(format);
  }),
  overload('format.validate(string): optional<list<string>>', validate),
  ...[...FORMATS].map(([name, format]) => overload(`format.${name}::(): format`, () => format)),
];
