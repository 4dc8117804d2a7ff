import type { Service } from '@bowline/kubernetes';
import type { FieldProblem } from '@bowline/machinery';
import type { PartialObject } from '../../shared/partial-object.ts';
import { invalid } from '../../shared/problems.ts';

const POLICIES: ReadonlySet<string> = new Set(['SingleStack', 'PreferDualStack', 'RequireDualStack']);
const FAMILIES: ReadonlySet<string> = new Set(['IPv4', 'IPv6']);

/**
 * completeFamilies sets the IP families of a Service. There is only one network, which is IPv4: only a headless Service
 * without a selector may have other families.
 */
export function completeFamilies(
  { spec = {} }: PartialObject<Service>,
  old: PartialObject<Service> | undefined,
): FieldProblem[] {
  const isFree = spec.clusterIP === 'None' && Object.keys(spec.selector ?? {}).length === 0;
  const { ipFamilyPolicy: policy, ipFamilies: families = [] } = spec;
  // Validation reports invalid values later.
  if (policy !== undefined && !POLICIES.has(policy)) return [];
  if (families.some((family) => !FAMILIES.has(family)) || families.length > 2) return [];
  if (old?.spec?.ipFamilies && old.spec.ipFamilies[0] !== families[0] && families.length > 0) return [];
  const address = spec.clusterIPs?.[0] ?? '';
  if (address.includes(':') && spec.clusterIP === address)
    return [invalid('spec.clusterIPs[0]', spec.clusterIPs, 'IPv6 is not configured on this cluster')];
  if (isFree) {
    const both = policy !== 'SingleStack';
    spec.ipFamilyPolicy ??= 'RequireDualStack';
    const [first = 'IPv4'] = families;
    spec.ipFamilies = both ? [first, first === 'IPv4' ? 'IPv6' : 'IPv4'] : [first];
    return [];
  }
  if (families.length === 2 && (policy ?? 'SingleStack') === 'SingleStack') {
    const detail = "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified";
    return [invalid('spec.ipFamilyPolicy', 'SingleStack', detail)];
  }
  if (policy === 'RequireDualStack')
    return [invalid('spec.ipFamilyPolicy', policy, 'this cluster is not configured for dual-stack services')];
  const foreign = families.indexOf('IPv6');
  if (foreign >= 0) return [invalid(`spec.ipFamilies[${foreign}]`, 'IPv6', 'not configured on this cluster')];
  spec.ipFamilyPolicy ??= 'SingleStack';
  spec.ipFamilies = ['IPv4'];
  return [];
}
