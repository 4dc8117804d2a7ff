import type { HorizontalPodAutoscaler, MetricTarget } from '@bowline/kubernetes';
import type { Draft } from '../../api-resource.ts';
import type { KindRules } from '../../built-in-strategy.ts';
import { AGE, as, column } from '../shared/column.ts';
import { type PartialObject, partOf } from '../shared/partial-object.ts';
import { statusDefaults, zeroes } from '../shared/status-defaults.ts';
import { autoscalerProblems } from './horizontal-pod-autoscaler-problems.ts';

type Spec = PartialObject<NonNullable<HorizontalPodAutoscaler['spec']>>;

/** horizontalPodAutoscalerRules holds the rules of HorizontalPodAutoscalers. */
export const horizontalPodAutoscalerRules: KindRules = {
  countsGeneration: false,
  applyDefaults(object) {
    const { spec = {}, status } = asAutoscaler(object);
    spec.minReplicas ??= 1;
    if ((spec.metrics ?? []).length === 0) {
      const target = { type: 'Utilization', averageUtilization: 80 };
      spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }];
    }
    behaviorDefaults(spec);
    if (!status) return;
    zeroes(status, 'desiredReplicas');
    // The API server writes this list as null when it is empty.
    const open = status as { currentMetrics?: unknown };
    open.currentMetrics ??= null;
    statusDefaults(status.conditions, 'lastTransitionTime');
  },
  validate: (object) => autoscalerProblems(asAutoscaler(object).spec ?? {}),
  columns: [
    column('Reference', 'Workload that is scaled.', (object) => {
      const { kind = '', name = '' } = as<HorizontalPodAutoscaler>(object).spec?.scaleTargetRef ?? {};
      return `${kind}/${name}`;
    }),
    column('Targets', 'Current and target value of each metric.', (object) => targets(as(object))),
    column('MinPods', 'Minimum number of pods.', (object) => {
      const least = as<HorizontalPodAutoscaler>(object).spec?.minReplicas;
      return least === undefined ? '<unset>' : String(least);
    }),
    column(
      'MaxPods',
      'Maximum number of pods.',
      (object) => as<HorizontalPodAutoscaler>(object).spec?.maxReplicas ?? 0,
    ),
    column(
      'Replicas',
      'Current number of pods.',
      (object) => as<HorizontalPodAutoscaler>(object).status?.currentReplicas ?? 0,
    ),
    AGE,
  ],
};

function asAutoscaler(object: Draft): PartialObject<HorizontalPodAutoscaler> {
  // It was decoded with the schema of a HorizontalPodAutoscaler.
  return object as PartialObject<HorizontalPodAutoscaler>;
}

/** Completes a behavior that is set only in part: scale up at once and fast, down after a while. */
function behaviorDefaults({ behavior }: Spec): void {
  if (!behavior) return;
  const up = partOf(behavior, 'scaleUp');
  up.stabilizationWindowSeconds ??= 0;
  up.selectPolicy ??= 'Max';
  up.policies ??= [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ];
  const down = partOf(behavior, 'scaleDown');
  down.selectPolicy ??= 'Max';
  down.policies ??= [{ type: 'Percent', value: 100, periodSeconds: 15 }];
}

const MAX_DISPLAYED_TARGETS = 2;

function targets({ spec, status }: PartialObject<HorizontalPodAutoscaler>): string {
  const current = (status?.currentMetrics ?? []) as readonly (Readonly<Record<string, unknown>> | undefined)[];
  const texts = (spec?.metrics ?? []).map((metric, index) => {
    const [member, isResource] = MEMBERS[metric.type ?? ''] ?? [];
    if (member === undefined) return '<unknown type>';
    const source = metric[member] as { name?: string; target?: PartialObject<MetricTarget> } | undefined;
    const found = (current[index]?.[member] as { current?: Found } | undefined)?.current;
    const text = targetText(source?.target ?? {}, found, member);
    return isResource ? `${source?.name ?? ''}: ${text}` : text;
  });
  if (texts.length === 0) return '<none>';
  const shown = texts.slice(0, MAX_DISPLAYED_TARGETS).join(', ');
  return texts.length > MAX_DISPLAYED_TARGETS ? `${shown} + ${texts.length - MAX_DISPLAYED_TARGETS} more...` : shown;
}

interface Found {
  readonly value?: string;
  readonly averageValue?: string;
  readonly averageUtilization?: number;
}

type Member = 'resource' | 'containerResource' | 'pods' | 'object' | 'external';

const MEMBERS: Readonly<Record<string, readonly [Member, isResource: boolean]>> = {
  Resource: ['resource', true],
  ContainerResource: ['containerResource', true],
  Pods: ['pods', false],
  Object: ['object', false],
  External: ['external', false],
};

function targetText(target: PartialObject<MetricTarget>, found: Found | undefined, member: Member): string {
  if (target.averageValue !== undefined && (member !== 'object' || target.type === 'AverageValue')) {
    const suffix = member === 'external' || member === 'object' ? ' (avg)' : '';
    return `${found?.averageValue ?? '<unknown>'}/${target.averageValue}${suffix}`;
  }
  if (member === 'resource' || member === 'containerResource') {
    const now = found?.averageUtilization === undefined ? '<unknown>' : `${found.averageUtilization}%`;
    return `${now}/${target.averageUtilization === undefined ? '<auto>' : `${target.averageUtilization}%`}`;
  }
  return `${found?.value ?? '<unknown>'}/${target.value ?? '<unknown>'}`;
}
