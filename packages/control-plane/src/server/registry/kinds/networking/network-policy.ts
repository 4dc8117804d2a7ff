import type { NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from '@bowline/kubernetes';
import { type FieldProblem, parseIp, validateLabelSelector } from '@bowline/machinery';
import { type KindRules, specChanged } from '../../built-in-strategy.ts';
import { cidrProblems } from '../shared/address-problems.ts';
import { AGE, as, column, selectorText } from '../shared/column.ts';
import type { PartialObject } from '../shared/partial-object.ts';
import { portReferenceProblems } from '../shared/port-names.ts';
import { forbidden, invalid, invalids, notSupported, required } from '../shared/problems.ts';

/**
 * networkPolicyRules validates which pods may communicate. This server does not enforce policies; network plugins do.
 */
export const networkPolicyRules: KindRules = {
  applyDefaults(object) {
    const policy = as<NetworkPolicy>(object);
    policy.spec ??= {};
    const { spec } = policy;
    spec.podSelector ??= {};
    const ports = [...(spec.ingress ?? []), ...(spec.egress ?? [])].flatMap((rule) => rule.ports ?? []);
    for (const port of ports) port.protocol ??= 'TCP';
    if ((spec.policyTypes ?? []).length === 0)
      spec.policyTypes = (spec.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
  },
  validate(object) {
    const { podSelector = {}, ingress = [], egress = [], policyTypes = [] } = as<NetworkPolicy>(object).spec ?? {};
    const problems = [...selectorProblems('spec.podSelector', podSelector)];
    ingress.forEach(({ ports = [], from = [] }, index) => {
      problems.push(...ruleProblems(`spec.ingress[${index}]`, ports, 'from', from));
    });
    egress.forEach(({ ports = [], to = [] }, index) => {
      problems.push(...ruleProblems(`spec.egress[${index}]`, ports, 'to', to));
    });
    if (policyTypes.length > 2)
      return [...problems, invalid('spec.policyTypes', policyTypes, 'may not specify more than two policyTypes')];
    for (const [index, type] of policyTypes.entries()) {
      if (type !== 'Ingress' && type !== 'Egress')
        problems.push(notSupported(`spec.policyTypes[${index}]`, type, ['Ingress', 'Egress']));
    }
    return problems;
  },
  countsGeneration: specChanged,
  columns: [
    column('Pod-Selector', 'Labels that select the pods.', (object) =>
      selectorText(as<NetworkPolicy>(object).spec?.podSelector),
    ),
    AGE,
  ],
};

type Selector = PartialObject<NetworkPolicyPeer>['podSelector'];

function selectorProblems(field: string, selector: Selector): readonly FieldProblem[] {
  return validateLabelSelector(selector as Parameters<typeof validateLabelSelector>[0], field);
}

function ruleProblems(
  at: string,
  ports: readonly PartialObject<NetworkPolicyPort>[],
  side: 'from' | 'to',
  peers: readonly PartialObject<NetworkPolicyPeer>[],
): FieldProblem[] {
  return [
    ...ports.flatMap((port, index) => portProblems(`${at}.ports[${index}]`, port)),
    ...peers.flatMap((peer, index) => peerProblems(`${at}.${side}[${index}]`, peer)),
  ];
}

function portProblems(at: string, { port, endPort, protocol }: PartialObject<NetworkPolicyPort>): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const protocols = ['TCP', 'UDP', 'SCTP'];
  if (protocol !== undefined && !protocols.includes(protocol))
    problems.push(notSupported(`${at}.protocol`, protocol, protocols));
  if (port !== undefined) problems.push(...invalids(`${at}.port`, port, portReferenceProblems(port)));
  if (endPort === undefined) return problems;
  const here = `${at}.endPort`;
  if (port === undefined) problems.push(invalid(here, endPort, 'may not be specified when `port` is not specified'));
  else if (typeof port === 'string')
    problems.push(invalid(here, endPort, 'may not be specified when `port` is non-numeric'));
  else if (endPort < port) problems.push(invalid(here, port, 'must be greater than or equal to `port`'));
  else if (endPort > 65_535) problems.push(invalid(here, endPort, 'must be between 1 and 65535, inclusive'));
  return problems;
}

function peerProblems(
  at: string,
  { podSelector, namespaceSelector, ipBlock }: PartialObject<NetworkPolicyPeer>,
): FieldProblem[] {
  const problems: FieldProblem[] = [];
  let others = 0;
  for (const [name, selector] of Object.entries({ podSelector, namespaceSelector })) {
    if (!selector) continue;
    others++;
    problems.push(...selectorProblems(`${at}.${name}`, selector));
  }
  if (ipBlock) problems.push(...blockProblems(`${at}.ipBlock`, ipBlock));
  if (others === 0 && !ipBlock) problems.push(required(at, 'must specify a peer'));
  if (others > 0 && ipBlock) problems.push(forbidden(at, 'may not specify both ipBlock and another peer'));
  return problems;
}

function blockProblems(
  at: string,
  { cidr = '', except = [] }: NonNullable<PartialObject<NetworkPolicyPeer>['ipBlock']>,
): FieldProblem[] {
  if (cidr === '') return [required(`${at}.cidr`)];
  const wrong = cidrProblems(`${at}.cidr`, cidr);
  if (wrong.length > 0) return wrong;
  return except.flatMap((each, index) => {
    const here = `${at}.except[${index}]`;
    const problems = cidrProblems(here, each);
    if (problems.length > 0) return problems;
    return isStrictlyInside(each, cidr) ? [] : [invalid(here, each, 'must be a strict subset of `cidr`')];
  });
}

function isStrictlyInside(inner: string, outer: string): boolean {
  const [network = '', length = ''] = outer.split('/');
  const [address = '', innerLength = ''] = inner.split('/');
  const [a, b] = [parseIp(network, { sloppy: true }), parseIp(address, { sloppy: true })];
  if (!a || !b || a.length !== b.length || Number(innerLength) <= Number(length)) return false;
  for (let bit = 0; bit < Number(length); bit++) {
    const mask = 0x80 >> (bit & 7);
    if (((a[bit >> 3] ?? 0) & mask) !== ((b[bit >> 3] ?? 0) & mask)) return false;
  }
  return true;
}
