import type { HTTPIngressPath, Ingress, IngressBackend } from '@bowline/kubernetes';
import { dns1035LabelProblems, dnsSubdomainProblems, type FieldProblem, parseIp } from '@bowline/machinery';
import type { PartialObject } from '../shared/partial-object.ts';
import { portNameProblems } from '../shared/port-names.ts';
import { invalid, invalids, notSupported, outside, required } from '../shared/problems.ts';

const WILDCARD = '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const WILDCARD_RULE = `a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '${WILDCARD}')`;
const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];
const FORBIDDEN_PARTS = ['//', '/./', '/../', '%2f', '%2F'];
const FORBIDDEN_ENDS = ['/..', '/.'];

/** ingressProblems validates the spec of an Ingress. */
export function ingressProblems({ spec = {} }: PartialObject<Ingress>): FieldProblem[] {
  const { rules = [], tls = [], defaultBackend, ingressClassName } = spec;
  const problems: FieldProblem[] = [];
  if (rules.length === 0 && defaultBackend === undefined)
    problems.push(invalid('spec', null, 'either `defaultBackend` or `rules` must be specified'));
  if (defaultBackend !== undefined) problems.push(...backendProblems('spec.defaultBackend', defaultBackend));
  for (const [index, { host, http }] of rules.entries()) {
    const at = `spec.rules[${index}]`;
    if (host) problems.push(...hostProblems(`${at}.host`, host));
    if (!http) continue;
    const paths = http.paths ?? [];
    if (paths.length === 0) problems.push(required(`${at}.http.paths`));
    problems.push(...paths.flatMap((path, place) => pathProblems(`${at}.http.paths[${place}]`, path)));
  }
  for (const [index, { hosts = [], secretName }] of tls.entries()) {
    const at = `spec.tls[${index}]`;
    hosts.forEach((host, place) => {
      const details = host.includes('*') ? wildcardProblems(host) : dnsSubdomainProblems(host);
      problems.push(...invalids(`${at}.hosts[${place}]`, host, details));
    });
    if (secretName) problems.push(...invalids(`${at}.secretName`, secretName, dnsSubdomainProblems(secretName)));
  }
  if (ingressClassName !== undefined)
    problems.push(...invalids('spec.ingressClassName', ingressClassName, dnsSubdomainProblems(ingressClassName)));
  return problems;
}

/** hostProblems validates the host of a rule. */
export function hostProblems(field: string, host: string): FieldProblem[] {
  if (parseIp(host)) return [invalid(field, host, 'must be a DNS name, not an IP address')];
  return invalids(field, host, host.includes('*') ? wildcardProblems(host) : dnsSubdomainProblems(host));
}

function wildcardProblems(host: string): string[] {
  const isGood = host.startsWith('*.') && dnsSubdomainProblems(host.slice(2)).length === 0;
  return isGood ? [] : [WILDCARD_RULE];
}

function pathProblems(
  at: string,
  { path = '', pathType, backend = {} }: PartialObject<HTTPIngressPath>,
): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (pathType === undefined) problems.push(required(`${at}.pathType`, 'pathType must be specified'));
  else if (pathType === 'Exact' || pathType === 'Prefix') {
    if (!path.startsWith('/')) problems.push(invalid(`${at}.path`, path, 'must be an absolute path'));
    for (const part of FORBIDDEN_PARTS)
      if (path.includes(part)) problems.push(invalid(`${at}.path`, path, `must not contain '${part}'`));
    for (const end of FORBIDDEN_ENDS)
      if (path.endsWith(end)) problems.push(invalid(`${at}.path`, path, `cannot end with '${end}'`));
  } else if (pathType === 'ImplementationSpecific') {
    if (path !== '' && !path.startsWith('/')) problems.push(invalid(`${at}.path`, path, 'must be an absolute path'));
  } else {
    problems.push(notSupported(`${at}.pathType`, pathType, PATH_TYPES));
  }
  return [...problems, ...backendProblems(`${at}.backend`, backend)];
}

function backendProblems(at: string, { service, resource }: PartialObject<IngressBackend>): FieldProblem[] {
  if (service && resource) return [invalid(at, '', 'cannot set both resource and service backends')];
  if (resource) {
    return (['kind', 'name'] as const).flatMap((name) => (resource[name] ? [] : [required(`${at}.resource.${name}`)]));
  }
  if (!service) return [invalid(at, '', 'resource or service backend is required')];
  const { name = '', port = {} } = service;
  const problems =
    name === '' ? [required(`${at}.service.name`)] : invalids(`${at}.service.name`, name, dns1035LabelProblems(name));
  if (port.name && port.number) problems.push(invalid(at, '', 'cannot set both port name & port number'));
  else if (port.name) problems.push(...invalids(`${at}.service.port.name`, port.name, portNameProblems(port.name)));
  else if (port.number) problems.push(...outside(`${at}.service.port.number`, port.number, 1, 65_535));
  else problems.push(required(at, 'port name or number is required'));
  return problems;
}
