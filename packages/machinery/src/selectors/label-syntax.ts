import { dnsSubdomainProblems } from '../validation/dns-names.ts';

// The texts are those of the API server, because users search for them and tests compare them.

const NAME_PATTERN = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

const CHARACTERS =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const NAME_RULE = `${CHARACTERS} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${NAME_PATTERN}')`;
const KEY_RULE = `a valid label key ${NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`;
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end " +
  `with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(${NAME_PATTERN})?')`;

// The patterns as regular expressions: they match the same texts as the published ones, without capturing groups.
const NAME = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/**
 * labelKeyProblems returns the problems that the API server reports for a label or annotation key; empty if it is
 * valid.
 */
export function labelKeyProblems(key: string): string[] {
  const parts = key.split('/');
  if (parts.length > 2) return [KEY_RULE];
  const problems: string[] = [];
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const name = parts[parts.length - 1] ?? '';
  if (prefix === '') problems.push('prefix part must be non-empty');
  else if (prefix !== undefined) {
    problems.push(...dnsSubdomainProblems(prefix).map((problem) => `prefix part ${problem}`));
  }
  if (name === '') problems.push('name part must be non-empty');
  else if (isTooLong(name, 63)) problems.push('name part must be no more than 63 bytes');
  if (!NAME.test(name)) problems.push(`name part ${NAME_RULE}`);
  return problems;
}

/** labelValueProblems returns the problems that the API server reports for a label value; empty if it is valid. */
export function labelValueProblems(value: string): string[] {
  const problems: string[] = [];
  if (isTooLong(value, 63)) problems.push('must be no more than 63 bytes');
  if (value !== '' && !NAME.test(value)) problems.push(VALUE_RULE);
  return problems;
}

function isTooLong(text: string, bytes: number): boolean {
  return Buffer.byteLength(text) > bytes;
}
