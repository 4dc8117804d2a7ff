import type { HorizontalPodAutoscaler, HPAScalingRules, MetricSpec, MetricTarget } from '@bowline/kubernetes';
import { type FieldProblem, parseQuantity } from '@bowline/machinery';
import type { PartialObject } from '../shared/partial-object.ts';
import { forbidden, invalid, invalids, notSupported, required } from '../shared/problems.ts';
import { selectorProblems } from '../shared/scheduling-problems.ts';

type Problems = FieldProblem[];
type Spec = PartialObject<NonNullable<HorizontalPodAutoscaler['spec']>>;
type Target = PartialObject<MetricTarget>;

const METRIC_TYPES = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];
const MAX_WINDOW_SECONDS = 3_600;
const MAX_PERIOD_SECONDS = 1_800;

/** autoscalerProblems validates the spec of a HorizontalPodAutoscaler. */
export function autoscalerProblems(spec: Spec): Problems {
  const { minReplicas, maxReplicas = 0, scaleTargetRef, metrics = [], behavior } = spec;
  const problems: Problems = [];
  if (minReplicas !== undefined && minReplicas < 1) {
    problems.push(invalid('spec.minReplicas', minReplicas, 'must be greater than or equal to 1'));
  }
  if (maxReplicas < 1) problems.push(invalid('spec.maxReplicas', maxReplicas, 'must be greater than 0'));
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    problems.push(invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`'));
  }
  problems.push(...referenceProblems('spec.scaleTargetRef', scaleTargetRef ?? {}, true));
  metrics.forEach((metric, index) => {
    problems.push(...metricProblems(`spec.metrics[${index}]`, metric));
  });
  if (minReplicas === 0 && !metrics.some(({ type }) => type === 'Object' || type === 'External')) {
    const why = 'must specify at least one Object or External metric to support scaling to zero replicas';
    problems.push(forbidden('spec.metrics', why));
  }
  if (behavior?.scaleUp) problems.push(...rulesProblems('spec.behavior.scaleUp', behavior.scaleUp));
  if (behavior?.scaleDown) problems.push(...rulesProblems('spec.behavior.scaleDown', behavior.scaleDown));
  return problems;
}

function referenceProblems(
  at: string,
  {
    kind = '',
    name = '',
    apiVersion = '',
  }: { kind?: string | undefined; name?: string | undefined; apiVersion?: string | undefined },
  needsGroup = false,
): Problems {
  const problems: Problems = [];
  for (const [member, value] of [
    ['kind', kind],
    ['name', name],
  ] as const) {
    problems.push(
      ...(value === '' ? [required(`${at}.${member}`)] : invalids(`${at}.${member}`, value, segmentProblems(value))),
    );
  }
  // The core group has only one kind that can be scaled.
  if (needsGroup && kind !== 'ReplicationController' && !apiVersion.includes('/')) {
    problems.push(invalid(`${at}.apiVersion`, apiVersion, 'apiVersion must specify API group'));
  }
  return problems;
}

function segmentProblems(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((mark) => name.includes(mark)).map((mark) => `may not contain '${mark}'`);
}

function metricProblems(at: string, metric: PartialObject<MetricSpec>): Problems {
  const { type = '', object, pods, resource, containerResource, external } = metric;
  if (type === '') return [required(`${at}.type`, 'must specify a metric source type')];
  if (!METRIC_TYPES.includes(type)) {
    // The API server reports it twice: for the types, and for the sources.
    const problem = notSupported(`${at}.type`, type, METRIC_TYPES);
    return [problem, problem];
  }
  const problems: Problems = [];
  if (object) {
    const here = `${at}.object`;
    problems.push(
      ...referenceProblems(`${here}.describedObject`, object.describedObject ?? {}),
      ...nameProblems(`${here}.metric`, object.metric ?? {}),
      ...targetProblems(`${here}.target`, object.target ?? {}),
    );
    const { value, averageValue } = object.target ?? {};
    if (value === undefined && averageValue === undefined) {
      problems.push(required(`${here}.target.averageValue`, 'must set either a target value or averageValue'));
    }
  }
  if (external) {
    const here = `${at}.external`;
    problems.push(
      ...nameProblems(`${here}.metric`, external.metric ?? {}),
      ...targetProblems(`${here}.target`, external.target ?? {}),
    );
    const { value, averageValue } = external.target ?? {};
    if (value === undefined && averageValue === undefined) {
      problems.push(
        required(`${here}.target.averageValue`, 'must set either a target value for metric or a per-pod target'),
      );
    }
    if (value !== undefined && averageValue !== undefined) {
      problems.push(
        forbidden(`${here}.target.value`, 'may not set both a target value for metric and a per-pod target'),
      );
    }
  }
  if (pods) {
    const here = `${at}.pods`;
    problems.push(
      ...nameProblems(`${here}.metric`, pods.metric ?? {}),
      ...targetProblems(`${here}.target`, pods.target ?? {}),
    );
    if (pods.target?.averageValue === undefined) {
      problems.push(required(`${here}.target.averageValue`, 'must specify a positive target averageValue'));
    }
  }
  if (containerResource) {
    const here = `${at}.containerResource`;
    if (!containerResource.name) problems.push(required(`${here}.name`, 'must specify a resource name'));
    if (!containerResource.container) problems.push(required(`${here}.container`, 'must specify a container'));
    problems.push(...resourceTargetProblems(`${here}.target`, containerResource.target ?? {}));
  }
  if (resource) {
    const here = `${at}.resource`;
    if (!resource.name) problems.push(required(`${here}.name`, 'must specify a resource name'));
    problems.push(...resourceTargetProblems(`${here}.target`, resource.target ?? {}));
  }
  const member = (type.charAt(0).toLowerCase() + type.slice(1)) as keyof MetricSpec;
  if (metric[member] === undefined) {
    problems.push(required(`${at}.${member}`, 'must populate information for the given metric source'));
  }
  for (const [other, source] of Object.entries({ object, pods, resource, containerResource, external })) {
    if (source !== undefined && other !== member) {
      problems.push(forbidden(`${at}.${other}`, 'must populate the given metric source only'));
    }
  }
  return problems;
}

function nameProblems(
  at: string,
  { name = '', selector }: PartialObject<{ name: string; selector?: { matchLabels?: Record<string, string> } }>,
): Problems {
  const problems =
    name === ''
      ? [required(`${at}.name`, 'must specify a metric name')]
      : invalids(`${at}.name`, name, segmentProblems(name));
  return [...problems, ...selectorProblems(`${at}.selector`, selector)];
}

function resourceTargetProblems(at: string, target: Target): Problems {
  const problems = targetProblems(at, target);
  const { averageUtilization, averageValue } = target;
  if (averageUtilization === undefined && averageValue === undefined) {
    problems.push(required(`${at}.averageUtilization`, 'must set either a target raw value or a target utilization'));
  }
  if (averageUtilization !== undefined && averageValue !== undefined) {
    problems.push(forbidden(`${at}.averageValue`, 'may not set both a target raw value and a target utilization'));
  }
  return problems;
}

function targetProblems(at: string, { type = '', value, averageValue, averageUtilization }: Target): Problems {
  const problems: Problems = [];
  if (type === '') problems.push(required(`${at}.type`, 'must specify a metric target type'));
  if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    problems.push(invalid(`${at}.type`, type, 'must be either Utilization, Value, or AverageValue'));
  }
  for (const [member, amount] of [
    ['value', value],
    ['averageValue', averageValue],
  ] as const) {
    if (amount !== undefined && parseQuantity(amount).nanos <= 0n) {
      problems.push(invalid(`${at}.${member}`, amount, 'must be positive'));
    }
  }
  if (averageUtilization !== undefined && averageUtilization < 1) {
    problems.push(invalid(`${at}.averageUtilization`, averageUtilization, 'must be greater than 0'));
  }
  return problems;
}

function rulesProblems(
  at: string,
  { stabilizationWindowSeconds: window, selectPolicy, policies = [] }: PartialObject<HPAScalingRules>,
): Problems {
  const problems: Problems = [];
  if (window !== undefined && window < 0) {
    problems.push(invalid(`${at}.stabilizationWindowSeconds`, window, 'must be greater than or equal to zero'));
  }
  if (window !== undefined && window > MAX_WINDOW_SECONDS) {
    problems.push(
      invalid(`${at}.stabilizationWindowSeconds`, window, `must be less than or equal to ${MAX_WINDOW_SECONDS}`),
    );
  }
  const known = ['Disabled', 'Max', 'Min'];
  if (selectPolicy !== undefined && !known.includes(selectPolicy)) {
    problems.push(notSupported(`${at}.selectPolicy`, selectPolicy, known));
  }
  if (policies.length === 0) problems.push(required(`${at}.policies`, 'must specify at least one Policy'));
  policies.forEach(({ type = '', value = 0, periodSeconds = 0 }, index) => {
    const here = `${at}.policies[${index}]`;
    if (!['Percent', 'Pods'].includes(type)) problems.push(notSupported(`${here}.type`, type, ['Percent', 'Pods']));
    if (value <= 0) problems.push(invalid(`${here}.value`, value, 'must be greater than zero'));
    if (periodSeconds <= 0) problems.push(invalid(`${here}.periodSeconds`, periodSeconds, 'must be greater than zero'));
    if (periodSeconds > MAX_PERIOD_SECONDS) {
      problems.push(
        invalid(`${here}.periodSeconds`, periodSeconds, `must be less than or equal to ${MAX_PERIOD_SECONDS}`),
      );
    }
  });
  return problems;
}
