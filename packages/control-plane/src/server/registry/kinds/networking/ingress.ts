import type { Ingress } from '@bowline/kubernetes';
import { dnsSubdomainProblems, type FieldProblem, parseIp } from '@bowline/machinery';
import { type KindRules, specChanged, statusStrategy } from '../../built-in-strategy.ts';
import { addressProblems } from '../shared/address-problems.ts';
import { AGE, as, column } from '../shared/column.ts';
import type { PartialObject } from '../shared/partial-object.ts';
import { invalid, invalids } from '../shared/problems.ts';
import { dropEmpty } from '../shared/zero-values.ts';
import { hostProblems, ingressProblems } from './ingress-problems.ts';

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';
/** The number of hosts that a table displays. */
const MAX_DISPLAYED = 3;

/** ingressRules validates how external requests are routed to Services. */
export const ingressRules: KindRules = {
  applyDefaults(object) {
    const ingress = as<Ingress>(object);
    ingress.status ??= {};
    ingress.status.loadBalancer ??= {};
    for (const rule of ingress.spec?.rules ?? []) {
      dropEmpty(rule, 'host');
      for (const path of rule.http?.paths ?? []) dropEmpty(path, 'path');
    }
  },
  validate(object, old) {
    const ingress = as<Ingress>(object);
    const annotated = object.metadata.annotations?.[CLASS_ANNOTATION];
    const named = ingress.spec?.ingressClassName;
    const problems = ingressProblems(ingress);
    if (!old && annotated !== undefined && named !== undefined && annotated !== named) {
      const detail = 'must match `ingressClassName` when both are specified';
      problems.push(invalid(`annotations.${CLASS_ANNOTATION}`, annotated, detail));
    }
    return problems;
  },
  warningsOf: ({ metadata }) =>
    metadata.annotations?.[CLASS_ANNOTATION] === undefined
      ? []
      : [`annotation ${JSON.stringify(CLASS_ANNOTATION)} is deprecated, please use 'spec.ingressClassName' instead`],
  countsGeneration: specChanged,
  subresources: {
    status: (whole) => ({
      strategy: {
        ...statusStrategy({ ...whole, validate: (object) => statusProblems(as<Ingress>(object)) }),
        warningsOf: undefined,
      },
    }),
  },
  columns: [
    column('Class', 'Class of the ingress.', (object) => as<Ingress>(object).spec?.ingressClassName ?? '<none>'),
    column('Hosts', 'Hosts that the ingress serves.', (object) => hosts(as<Ingress>(object))),
    column('Address', 'Addresses of the load balancer.', (object) =>
      (as<Ingress>(object).status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname).join(','),
    ),
    column('Ports', 'Ports that the ingress listens on.', (object) =>
      (as<Ingress>(object).spec?.tls ?? []).length > 0 ? '80, 443' : '80',
    ),
    AGE,
  ],
};

function hosts({ spec = {} }: PartialObject<Ingress>): string {
  const names = (spec.rules ?? []).map(({ host }) => host || '*');
  if (names.length === 0) return '*';
  const more = names.length - MAX_DISPLAYED;
  return `${names.slice(0, MAX_DISPLAYED).join(',')}${more > 0 ? ` + ${more} more...` : ''}`;
}

function statusProblems({ status = {} }: PartialObject<Ingress>): FieldProblem[] {
  return (status.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }, index) => {
    const at = `status.loadBalancer.ingress[${index}]`;
    const problems = ip ? addressProblems(`${at}.ip`, ip) : [];
    if (!hostname) return problems;
    problems.push(...invalids(`${at}.hostname`, hostname, dnsSubdomainProblems(hostname)));
    if (parseIp(hostname)) problems.push(...hostProblems(`${at}.hostname`, hostname));
    return problems;
  });
}
