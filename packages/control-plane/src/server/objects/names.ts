import { integerBelow, type Random } from '@bowline/machinery';

/** No vowels, and nothing that is easily mistaken for another: generated names spell no words. */
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
/** The API server's: a suffix still makes a name that fits a label. */
const LONGEST_PREFIX = 63 - SUFFIX_LENGTH;

/** generateName makes a name that begins with what was asked for. */
export function generateName(prefix: string, random: Random): string {
  const suffix = Array.from({ length: SUFFIX_LENGTH }, () => LETTERS[integerBelow(random, LETTERS.length)]).join('');
  return prefix.slice(0, LONGEST_PREFIX) + suffix;
}

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SERVICE = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

/** NameRule says what names of a kind look like. */
export type NameRule = 'subdomain' | 'label' | 'service' | 'path';

/** nameProblems is what the API server says of a name that breaks the rule. */
export function nameProblems(name: string, rule: NameRule): string[] {
  switch (rule) {
    case 'subdomain':
      return check(name, 253, SUBDOMAIN, SUBDOMAIN_TEXT);
    case 'label':
      return check(name, 63, LABEL, LABEL_TEXT);
    case 'service':
      return check(name, 63, SERVICE, SERVICE_TEXT);
    case 'path':
      return pathProblems(name);
  }
}

const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SERVICE_TEXT =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

function check(name: string, longest: number, pattern: RegExp, text: string): string[] {
  const problems: string[] = [];
  if (name.length > longest) problems.push(`must be no more than ${longest} bytes`);
  // A name that is far too long is not worth a search through it.
  if (name.length > 10 * longest || !pattern.test(name)) problems.push(text);
  return problems;
}

/** RBAC's names may hold colons and capitals, but must stand in a path. */
function pathProblems(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((mark) => name.includes(mark)).map((mark) => `may not contain '${mark}'`);
}
