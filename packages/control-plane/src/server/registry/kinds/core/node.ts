import type { Node, Taint } from '@bowline/kubernetes';
import { type FieldProblem, isSameJson, labelKeyProblems, labelValueProblems } from '@bowline/machinery';
import type { Draft } from '../../api-resource.ts';
import type { KindRules } from '../../built-in-strategy.ts';
import { cidrProblems } from '../shared/address-problems.ts';
import { AGE, as, column, wide } from '../shared/column.ts';
import { type PartialObject, partOf } from '../shared/partial-object.ts';
import { forbidden, invalid, invalids, required } from '../shared/problems.ts';
import { effectProblems } from '../shared/scheduling-problems.ts';
import { statusDefaults } from '../shared/status-defaults.ts';
import { dropFalse } from '../shared/zero-values.ts';

type Problems = FieldProblem[];

const ROLE = 'node-role.kubernetes.io/';
const NODE_INFO = [
  'machineID',
  'systemUUID',
  'bootID',
  'kernelVersion',
  'osImage',
  'containerRuntimeVersion',
  'kubeletVersion',
  'kubeProxyVersion',
  'operatingSystem',
  'architecture',
] as const;

/** nodeRules holds the rules of Nodes. */
export const nodeRules: KindRules = {
  // A kubelet registers its Node with a status.
  comesWithStatus: true,
  countsGeneration: false,
  applyDefaults(object) {
    const { spec = {}, status } = asNode(object);
    dropFalse(spec, 'unschedulable');
    // The newer field takes precedence; the older one is its first item.
    if (spec.podCIDRs?.length) spec.podCIDR = spec.podCIDRs[0];
    else if (spec.podCIDR) spec.podCIDRs = [spec.podCIDR];
    if (!status) return;
    status.allocatable ??= status.capacity && { ...status.capacity };
    partOf(partOf(status, 'daemonEndpoints'), 'kubeletEndpoint').Port ??= 0;
    const info = partOf(status, 'nodeInfo');
    for (const name of NODE_INFO) info[name] ??= '';
    statusDefaults(status.conditions, 'lastHeartbeatTime', 'lastTransitionTime');
  },
  validate(object, old) {
    const { spec = {} } = asNode(object);
    const problems = [...taintProblems(spec.taints ?? []), ...rangeProblems(spec.podCIDRs ?? [])];
    return old ? [...problems, ...updateProblems(spec, asNode(old).spec ?? {})] : problems;
  },
  columns: [
    column('Status', 'Whether the node is ready and schedulable.', (object) => {
      const { spec, status } = as<Node>(object);
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      const words = [ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown'];
      if (spec?.unschedulable) words.push('SchedulingDisabled');
      return words.join(',');
    }),
    column('Roles', 'Roles of the node.', ({ metadata }) => {
      const roles = new Set<string>();
      for (const [key, value] of Object.entries(metadata?.labels ?? {})) {
        if (key.startsWith(ROLE) && key.length > ROLE.length) roles.add(key.slice(ROLE.length));
        else if (key === 'kubernetes.io/role' && value !== '') roles.add(value);
      }
      return roles.size === 0 ? '<none>' : [...roles].sort().join(',');
    }),
    AGE,
    column('Version', 'Version of the kubelet.', (object) => as<Node>(object).status?.nodeInfo?.kubeletVersion ?? ''),
    wide('Internal-IP', 'Address inside the cluster.', (object) => address(as(object), 'InternalIP')),
    wide('External-IP', 'Address outside the cluster.', (object) => address(as(object), 'ExternalIP')),
    wide('OS-Image', 'Operating system.', (object) => as<Node>(object).status?.nodeInfo?.osImage || '<unknown>'),
    wide(
      'Kernel-Version',
      'Version of the kernel.',
      (object) => as<Node>(object).status?.nodeInfo?.kernelVersion || '<unknown>',
    ),
    wide(
      'Container-Runtime',
      'Container runtime and its version.',
      (object) => as<Node>(object).status?.nodeInfo?.containerRuntimeVersion || '<unknown>',
    ),
  ],
};

function asNode(object: Draft): PartialObject<Node> {
  // It was decoded with the schema of a Node.
  return object as PartialObject<Node>;
}

function address({ status }: PartialObject<Node>, wanted: string): string {
  return status?.addresses?.find(({ type }) => type === wanted)?.address ?? '<none>';
}

function taintProblems(taints: readonly PartialObject<Taint>[]): Problems {
  const problems: Problems = [];
  const known = new Set<string>();
  taints.forEach(({ key = '', value = '', effect = '' }, index) => {
    // The path is the one that the API server reports: taints used to be an annotation.
    const at = `metadata.taints[${index}]`;
    problems.push(...invalids(`${at}.key`, key, labelKeyProblems(key)));
    const wrong = labelValueProblems(value);
    if (wrong.length > 0) problems.push(invalid(`${at}.value`, value, wrong.join(';')));
    problems.push(...(effect === '' ? [required(`${at}.effect`)] : effectProblems(`${at}.effect`, effect)));
    const pair = `${effect}/${key}`;
    if (known.has(pair)) {
      const text = JSON.stringify({ Key: key, Value: value, Effect: effect, TimeAdded: null });
      const message = `Duplicate value: ${text}: taints must be unique by key and effect pair`;
      problems.push({ field: at, reason: 'FieldValueDuplicate', message });
    }
    known.add(pair);
  });
  return problems;
}

function rangeProblems(ranges: readonly string[]): Problems {
  const problems = ranges.flatMap((range, index) => cidrProblems(`spec.podCIDRs[${index}]`, range));
  const families = new Set(ranges.map((range) => range.includes(':')));
  if (problems.length === 0 && ranges.length > families.size) {
    problems.push(invalid('spec.podCIDRs', ranges, 'may specify no more than one CIDR for each IP family'));
  }
  return problems;
}

function updateProblems(
  spec: PartialObject<NonNullable<Node['spec']>>,
  old: PartialObject<NonNullable<Node['spec']>>,
): Problems {
  const problems: Problems = [];
  if (old.podCIDRs?.length && !isSameJson(spec.podCIDRs, old.podCIDRs)) {
    problems.push(forbidden('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'));
  }
  if (old.providerID && spec.providerID !== old.providerID) {
    problems.push(forbidden('spec.providerID', 'node updates may not change providerID except from "" to valid'));
  }
  return problems;
}
