import type { PodSpec, PodTemplateSpec } from '@bowline/kubernetes';
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  type FieldProblem,
  labelKeyProblems,
  labelValueProblems,
} from '@bowline/machinery';
import { addressProblems } from '../../shared/address-problems.ts';
import type { PartialObject } from '../../shared/partial-object.ts';
import { invalid, invalids, notSupported, oneOf, outside, required } from '../../shared/problems.ts';
import { affinityProblems, spreadProblems, tolerationProblems } from '../../shared/scheduling-problems.ts';
import { containerListProblems } from './container-problems.ts';
import { podSecurityProblems } from './security-problems.ts';
import { volumeListProblems } from './volume-problems.ts';

type Problems = FieldProblem[];

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const MAX_INT32 = 2_147_483_647;

/** podSpecProblems validates the spec of a pod or of a pod template, which is not complete yet. */
export function podSpecProblems(path: string, spec: PartialObject<PodSpec>, isTemplate = false): Problems {
  const { volumes = [], hostAliases = [], tolerations = [], topologySpreadConstraints = [] } = spec;
  const problems: Problems = [
    ...volumeListProblems(`${path}.volumes`, volumes),
    ...containerListProblems(path, { spec, volumes: new Set(volumes.map(({ name = '' }) => name)), isTemplate }),
    ...oneOf(`${path}.restartPolicy`, spec.restartPolicy, RESTART_POLICIES),
    ...oneOf(`${path}.dnsPolicy`, spec.dnsPolicy, DNS_POLICIES),
    ...labelProblems(`${path}.nodeSelector`, spec.nodeSelector ?? {}),
    ...podSecurityProblems(path, spec),
    ...affinityProblems(`${path}.affinity`, spec),
    ...dnsConfigProblems(path, spec),
    ...(spec.readinessGates ?? []).flatMap(({ conditionType = '' }, index) =>
      invalids(`${path}.readinessGates[${index}].conditionType`, conditionType, labelKeyProblems(conditionType)),
    ),
    ...(spec.schedulingGates ?? []).flatMap(({ name = '' }, index) =>
      invalids(`${path}.schedulingGates[${index}]`, name, labelKeyProblems(name)),
    ),
    ...spreadProblems(`${path}.topologySpreadConstraints`, topologySpreadConstraints),
    ...namesIn(path, spec),
    ...tolerationProblems(`${path}.tolerations`, tolerations),
  ];
  hostAliases.forEach(({ ip = '', hostnames = [] }, index) => {
    const at = `${path}.hostAliases[${index}]`;
    problems.push(...addressProblems(`${at}.ip`, ip));
    for (const [position, name] of hostnames.entries()) {
      problems.push(...invalids(`${at}.hostnames[${position}]`, name, dnsSubdomainProblems(name)));
    }
  });
  if (spec.priorityClassName) {
    problems.push(
      ...invalids(`${path}.priorityClassName`, spec.priorityClassName, dnsSubdomainProblems(spec.priorityClassName)),
    );
  }
  if (spec.runtimeClassName !== undefined) {
    problems.push(
      ...invalids(`${path}.runtimeClassName`, spec.runtimeClassName, dnsSubdomainProblems(spec.runtimeClassName)),
    );
  }
  const { preemptionPolicy } = spec;
  if (preemptionPolicy && !['Never', 'PreemptLowerPriority'].includes(preemptionPolicy)) {
    problems.push(notSupported(`${path}.preemptionPolicy`, preemptionPolicy, ['Never', 'PreemptLowerPriority']));
  }
  return problems;
}

function namesIn(path: string, spec: PartialObject<PodSpec>): Problems {
  const { serviceAccountName, nodeName, activeDeadlineSeconds, hostname, subdomain } = spec;
  return [
    ...(serviceAccountName
      ? invalids(`${path}.serviceAccountName`, serviceAccountName, dnsSubdomainProblems(serviceAccountName))
      : []),
    ...(nodeName ? invalids(`${path}.nodeName`, nodeName, dnsSubdomainProblems(nodeName)) : []),
    ...(activeDeadlineSeconds === undefined
      ? []
      : outside(`${path}.activeDeadlineSeconds`, activeDeadlineSeconds, 1, MAX_INT32)),
    ...(hostname ? invalids(`${path}.hostname`, hostname, dnsLabelProblems(hostname)) : []),
    ...(subdomain ? invalids(`${path}.subdomain`, subdomain, dnsLabelProblems(subdomain)) : []),
  ];
}

function dnsConfigProblems(path: string, { dnsPolicy, dnsConfig }: PartialObject<PodSpec>): Problems {
  const at = `${path}.dnsConfig`;
  if (dnsPolicy === 'None' && !dnsConfig) {
    return [required(at, 'must provide `dnsConfig` when `dnsPolicy` is None')];
  }
  if (!dnsConfig) return [];
  const { nameservers = [], options = [] } = dnsConfig;
  const problems: Problems = [];
  if (dnsPolicy === 'None' && nameservers.length === 0) {
    problems.push(required(`${at}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None'));
  }
  if (nameservers.length > 3)
    problems.push(invalid(`${at}.nameservers`, nameservers, 'must not have more than 3 nameservers'));
  nameservers.forEach((server, index) => {
    problems.push(...addressProblems(`${at}.nameservers[${index}]`, server));
  });
  options.forEach(({ name }, index) => {
    if (!name) problems.push(required(`${at}.options[${index}]`, 'must not be empty'));
  });
  return problems;
}

/** labelProblems validates labels. */
export function labelProblems(field: string, labels: { readonly [key: string]: string | undefined }): Problems {
  return Object.entries(labels).flatMap(([key, value = '']) => [
    ...invalids(field, key, labelKeyProblems(key)),
    ...invalids(field, value, labelValueProblems(value)),
  ]);
}

/** podTemplateProblems validates a pod template. */
export function podTemplateProblems(path: string, template: PartialObject<PodTemplateSpec>): Problems {
  const { labels = {}, annotations = {} } = template.metadata ?? {};
  return [
    ...labelProblems(`${path}.labels`, labels),
    ...Object.keys(annotations).flatMap((key) =>
      invalids(`${path}.annotations`, key, labelKeyProblems(key.toLowerCase())),
    ),
    ...podSpecProblems(`${path}.spec`, template.spec ?? {}, true),
    ...((template.spec?.ephemeralContainers ?? []).length > 0
      ? [
          {
            field: `${path}.spec.ephemeralContainers`,
            reason: 'FieldValueForbidden' as const,
            message: 'Forbidden: ephemeral containers not allowed in pod template',
          },
        ]
      : []),
  ];
}
