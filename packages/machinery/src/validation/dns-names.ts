// The texts are those of the API server, because users search for them and tests compare them.

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';

const LABEL_RULE = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL}')`;
const SUBDOMAIN_RULE = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`;
const LABEL_1035_RULE = `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${LABEL_1035}')`;

/** dnsSubdomainProblems returns the problems that the API server reports for the name of most objects. */
export const dnsSubdomainProblems = nameValidator(SUBDOMAIN, 253, SUBDOMAIN_RULE);

const labelProblems = nameValidator(LABEL, 63, LABEL_RULE);

/** dnsLabelProblems returns the problems that the API server reports for the name of, for instance, a namespace. */
export function dnsLabelProblems(text: string): string[] {
  const isSubdomain = text.includes('.') && !dnsSubdomainProblems(text).includes(SUBDOMAIN_RULE);
  return labelProblems(text).map((problem) =>
    isSubdomain && problem === LABEL_RULE ? 'must not contain dots' : problem,
  );
}

/** dns1035LabelProblems returns the problems that the API server reports for the name of, for instance, a Service. */
export const dns1035LabelProblems = nameValidator(LABEL_1035, 63, LABEL_1035_RULE);

function nameValidator(pattern: string, maxLength: number, rule: string): (text: string) => string[] {
  // The published pattern, without its capturing groups.
  const whole = new RegExp(`^${pattern.replaceAll('(', '(?:')}$`);
  return (text) => {
    const problems = Buffer.byteLength(text) > maxLength ? [`must be no more than ${maxLength} characters`] : [];
    return whole.test(text) ? problems : [...problems, rule];
  };
}
