import { formatCheck } from '../../schema/formats.ts';
import { labelKeyProblems, labelValueProblems } from '../../selectors/label-syntax.ts';
import { overload } from '../overloads.ts';
import { FormatValue, ListValue, NONE, OptionalValue } from '../values.ts';

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';

const LABEL_RULE = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL}')`;
const SUBDOMAIN_RULE = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`;
const LABEL_1035_RULE = `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${LABEL_1035}')`;

function named(pattern: string, most: number, rule: string, isPrefix: boolean): (text: string) => readonly string[] {
  const whole = new RegExp(`^${pattern.replaceAll('(', '(?:')}$`);
  return (given) => {
    // A prefix may end with a dash, because something will be appended.
    const text = isPrefix && given.length > 1 && given.endsWith('-') ? `${given.slice(0, -2)}a` : given;
    const problems = Buffer.byteLength(text) > most ? [`must be no more than ${most} bytes`] : [];
    return whole.test(text) ? problems : [...problems, rule];
  };
}

function checked(format: string, problem: string): (text: string) => readonly string[] {
  return (text) => (formatCheck(format)?.(text) === true ? [] : [problem]);
}

const FORMATS: ReadonlyMap<string, FormatValue> = new Map(
  (
    [
      ['dns1123Label', named(LABEL, 63, LABEL_RULE, false)],
      ['dns1123Subdomain', named(SUBDOMAIN, 253, SUBDOMAIN_RULE, false)],
      ['dns1035Label', named(LABEL_1035, 63, LABEL_1035_RULE, false)],
      ['qualifiedName', labelKeyProblems],
      ['dns1123LabelPrefix', named(LABEL, 63, LABEL_RULE, true)],
      ['dns1123SubdomainPrefix', named(SUBDOMAIN, 253, SUBDOMAIN_RULE, true)],
      ['dns1035LabelPrefix', named(LABEL_1035, 63, LABEL_1035_RULE, true)],
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

/** formats are named checks of text: `format.dns1123Label().validate(self).hasValue()` is true for a wrong one. */
export const formats = [
  overload('format.named::(string): optional<format>', (name: string) => {
    const format = FORMATS.get(name);
    return format === undefined ? NONE : new OptionalValue(format);
  }),
  overload('format.validate(string): optional<list<string>>', validate),
  ...[...FORMATS].map(([name, format]) => overload(`format.${name}::(): format`, () => format)),
];
