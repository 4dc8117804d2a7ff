import type { Service } from '@bowline/kubernetes';
import { dnsSubdomainProblems, type FieldProblem } from '@bowline/machinery';
import { addressProblems } from '../../shared/address-problems.ts';
import type { PartialObject } from '../../shared/partial-object.ts';
import { forbidden, invalid, invalids, notSupported, required } from '../../shared/problems.ts';

type Spec = NonNullable<PartialObject<Service>['spec']>;

/** serviceAddressProblems validates the addresses of a Service and their IP families, or its external name. */
export function serviceAddressProblems(spec: Spec): FieldProblem[] {
  if (spec.type !== 'ExternalName') return [...headlessProblems(spec), ...familyProblems(spec), ...addresses(spec)];
  const problems: FieldProblem[] = [];
  const unused = 'may not be set for ExternalName services';
  if (spec.clusterIP || (spec.clusterIPs ?? []).length > 0) problems.push(forbidden('spec.clusterIPs', unused));
  if ((spec.ipFamilies ?? []).length > 0) problems.push(forbidden('spec.ipFamilies', unused));
  if (spec.ipFamilyPolicy !== undefined) problems.push(forbidden('spec.ipFamilyPolicy', unused));
  const name = (spec.externalName ?? '').replace(/\.$/, '');
  if (name === '') problems.push(required('spec.externalName'));
  else problems.push(...invalids('spec.externalName', name, dnsSubdomainProblems(name)));
  return problems;
}

function headlessProblems({ type, clusterIPs = [] }: Spec): FieldProblem[] {
  if (clusterIPs[0] !== 'None' || (type !== 'NodePort' && type !== 'LoadBalancer')) return [];
  return [invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`)];
}

function familyProblems({ ipFamilyPolicy: policy, ipFamilies = [] }: Spec): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
  if (policy !== undefined && !policies.includes(policy))
    problems.push(notSupported('spec.ipFamilyPolicy', policy, policies));
  for (const [index, family] of ipFamilies.entries()) {
    if (family !== 'IPv4' && family !== 'IPv6')
      problems.push(notSupported(`spec.ipFamilies[${index}]`, family, ['IPv4', 'IPv6']));
  }
  return problems;
}

function addresses({ clusterIP = '', clusterIPs = [], ipFamilies = [] }: Spec): FieldProblem[] {
  const field = 'spec.clusterIPs';
  const problems: FieldProblem[] = [];
  if (clusterIPs.length > 0 && clusterIP === '')
    problems.push(invalid(field, clusterIPs, 'must be empty when `clusterIP` is not specified'));
  else if (clusterIPs.length > 0 && clusterIPs[0] !== clusterIP)
    problems.push(invalid(field, clusterIPs, 'first value must match `clusterIP`'));
  if (clusterIPs.length > 2) return [...problems, invalid(field, clusterIPs, 'may only hold up to 2 values')];
  if (clusterIPs.includes('None')) {
    if (clusterIPs.length > 1) problems.push(invalid(field, clusterIPs, "'None' must be the first and only value"));
    return problems;
  }
  const found = clusterIPs.map((address, index) => addressProblems(`${field}[${index}]`, address));
  problems.push(...found.flat());
  const families = clusterIPs.map((address) => (address.includes(':') ? 'IPv6' : 'IPv4'));
  if (found.flat().length === 0 && clusterIPs.length === 2 && families[0] === families[1])
    problems.push(invalid(field, clusterIPs, 'may specify no more than one IP for each IP family'));
  for (const [index, address] of clusterIPs.entries()) {
    const wanted = ipFamilies[index];
    if ((wanted === 'IPv4' || wanted === 'IPv6') && found[index]?.length === 0 && families[index] !== wanted) {
      const detail = `expected an ${wanted} value as indicated by \`ipFamilies[${index}]\``;
      problems.push(invalid(`${field}[${index}]`, address, detail));
    }
  }
  return problems;
}
