/**
 * portNameProblems returns the API server's error messages for the name of a port: it must be a valid IANA service
 * name.
 */
export function portNameProblems(name: string): string[] {
  const problems: string[] = [];
  if (name.length > 15) problems.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/.test(name))
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(name)) problems.push('must contain at least one letter (a-z)');
  if (name.includes('--')) problems.push('must not contain consecutive hyphens');
  if (/^-|-$/.test(name)) problems.push('must not begin or end with a hyphen');
  return problems;
}

/** portReferenceProblems validates a port that is a number or a name. */
export function portReferenceProblems(port: number | string | undefined): string[] {
  if (typeof port === 'string') return portNameProblems(port);
  return port !== undefined && port >= 1 && port <= 65_535 ? [] : ['must be between 1 and 65535, inclusive'];
}
