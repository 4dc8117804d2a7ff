import type { Job, JobSpec, PodFailurePolicyRule, PodSpec } from '@bowline/kubernetes';
import { dnsLabelProblems, type FieldProblem, isSameJson, labelValueProblems } from '@bowline/machinery';
import { labelMatchProblems, selectorImmutable } from '../apps/workload-problems.ts';
import { podTemplateProblems } from '../core/pod/pod-spec-problems.ts';
import type { PartialObject } from '../shared/partial-object.ts';
import {
  IMMUTABLE,
  invalid,
  invalidStruct,
  invalids,
  notNegative,
  notSupported,
  required,
} from '../shared/problems.ts';
import { selectorProblems, selectorStruct } from '../shared/scheduling-problems.ts';

type Problems = FieldProblem[];
type Spec = PartialObject<JobSpec>;

const CONTROLLER_UID = 'batch.kubernetes.io/controller-uid';
const MAX_COMPLETIONS = 100_000;

/** jobProblems validates a Job. */
export function jobProblems({ metadata, spec = {} }: PartialObject<Job>): Problems {
  const { name = '', uid = '' } = metadata ?? {};
  const problems: Problems = [];
  problems.push(...countProblems(spec), ...indexProblems(name, spec), ...policyProblems(spec));
  if (!spec.selector) problems.push(required('spec.selector'));
  else problems.push(...selectorProblems('spec.selector', spec.selector));
  if (!spec.manualSelector && spec.selector) {
    const own = { matchLabels: { [CONTROLLER_UID]: uid } };
    if (!isSameJson(spec.selector, own)) {
      problems.push(invalidStruct('spec.selector', selectorStruct(spec.selector), '`selector` not auto-generated'));
    }
  }
  problems.push(...labelMatchProblems(spec), ...templateProblems(name, spec));
  return problems;
}

function countProblems(spec: Spec): Problems {
  const problems = (
    [
      'parallelism',
      'completions',
      'activeDeadlineSeconds',
      'backoffLimit',
      'ttlSecondsAfterFinished',
      'backoffLimitPerIndex',
    ] as const
  ).flatMap((name) => notNegative(`spec.${name}`, spec[name]));
  const { completionMode, podReplacementPolicy } = spec;
  if (completionMode !== undefined && !['NonIndexed', 'Indexed'].includes(completionMode)) {
    problems.push(notSupported('spec.completionMode', completionMode, ['NonIndexed', 'Indexed']));
  }
  if (podReplacementPolicy !== undefined) {
    const known = spec.podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed'];
    if (!known.includes(podReplacementPolicy)) {
      problems.push(notSupported('spec.podReplacementPolicy', podReplacementPolicy, known));
    }
  }
  return problems;
}

function indexProblems(name: string, spec: Spec): Problems {
  const { completionMode, completions, parallelism, backoffLimitPerIndex, maxFailedIndexes } = spec;
  const problems: Problems = [];
  if (completionMode === 'Indexed') {
    if (completions === undefined) problems.push(required('spec.completions', 'when completion mode is Indexed'));
    else {
      // The last pod has the longest name, which is also its hostname.
      const longest = `${name}-${Math.max(0, completions - 1)}`;
      if (dnsLabelProblems(longest).length > 0) {
        problems.push(invalid('metadata.name', name, `will not able to create pod with invalid DNS label: ${longest}`));
      }
    }
    if (parallelism !== undefined && parallelism > MAX_COMPLETIONS) {
      const why = `must be less than or equal to ${MAX_COMPLETIONS} when completion mode is Indexed`;
      problems.push(invalid('spec.parallelism', parallelism, why));
    }
    if (maxFailedIndexes !== undefined && completions !== undefined && maxFailedIndexes > completions) {
      problems.push(invalid('spec.maxFailedIndexes', maxFailedIndexes, 'must be less than or equal to completions'));
    }
  } else {
    if (backoffLimitPerIndex !== undefined) {
      problems.push(invalid('spec.backoffLimitPerIndex', backoffLimitPerIndex, 'requires indexed completion mode'));
    }
    if (maxFailedIndexes !== undefined) {
      problems.push(invalid('spec.maxFailedIndexes', maxFailedIndexes, 'requires indexed completion mode'));
    }
  }
  return problems;
}

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];

function policyProblems({ podFailurePolicy, template }: Spec): Problems {
  if (!podFailurePolicy) return [];
  const names = new Set(
    [...(template?.spec?.containers ?? []), ...(template?.spec?.initContainers ?? [])].map(({ name }) => name),
  );
  return (podFailurePolicy.rules ?? []).flatMap((rule, index) =>
    ruleProblems(`spec.podFailurePolicy.rules[${index}]`, rule, names),
  );
}

function ruleProblems(
  at: string,
  { action = '', onExitCodes, onPodConditions }: PartialObject<PodFailurePolicyRule>,
  names: ReadonlySet<string | undefined>,
): Problems {
  const problems: Problems = [];
  if (action === '')
    problems.push(required(`${at}.action`, `valid values: ${ACTIONS.map((each) => `"${each}"`).join(', ')}`));
  else if (!ACTIONS.includes(action)) problems.push(notSupported(`${at}.action`, action, ACTIONS));
  if (onExitCodes) {
    const { operator = '', values = [], containerName } = onExitCodes;
    if (!['In', 'NotIn'].includes(operator)) {
      problems.push(notSupported(`${at}.onExitCodes.operator`, operator, ['In', 'NotIn']));
    }
    if (containerName !== undefined && !names.has(containerName)) {
      const why = 'must be one of the container or initContainer names in the pod template';
      problems.push(invalid(`${at}.onExitCodes.containerName`, containerName, why));
    }
    if (values.length === 0) {
      problems.push(invalid(`${at}.onExitCodes.values`, values, 'at least one value is required'));
    }
  }
  (onPodConditions ?? []).forEach(({ type = '', status = '' }, index) => {
    const field = `${at}.onPodConditions[${index}]`;
    if (type === '') problems.push(required(`${field}.type`));
    if (!['False', 'True', 'Unknown'].includes(status)) {
      problems.push(notSupported(`${field}.status`, status, ['False', 'True', 'Unknown']));
    }
  });
  if (onExitCodes && onPodConditions) {
    problems.push(invalid(at, null, 'specifying both OnExitCodes and OnPodConditions is not supported'));
  }
  if (!onExitCodes && !onPodConditions) {
    problems.push(invalid(at, null, 'specifying one of OnExitCodes and OnPodConditions is required'));
  }
  return problems;
}

function templateProblems(name: string, { template = {}, manualSelector, podFailurePolicy }: Spec): Problems {
  const problems: Problems = [];
  // The name becomes the value of two labels, an older one and a newer one.
  if (!manualSelector) {
    const wrong = invalids('spec.template.labels', name, labelValueProblems(name));
    problems.push(...wrong, ...wrong);
  }
  problems.push(...podTemplateProblems('spec.template', template));
  const { restartPolicy = '' } = template.spec ?? {};
  if (restartPolicy === 'Always') {
    problems.push(required('spec.template.spec.restartPolicy', 'valid values: "OnFailure", "Never"'));
  } else if (!['OnFailure', 'Never'].includes(restartPolicy)) {
    problems.push(notSupported('spec.template.spec.restartPolicy', restartPolicy, ['OnFailure', 'Never']));
  } else if (podFailurePolicy && restartPolicy !== 'Never') {
    const why = 'only "Never" is supported when podFailurePolicy is specified';
    problems.push(invalid('spec.template.spec.restartPolicy', restartPolicy, why));
  }
  return problems;
}

/**
 * The fields of a template that may change while a job is suspended and has never started: where its pods are
 * scheduled.
 */
const PLACEMENT = ['nodeSelector', 'affinity', 'tolerations', 'schedulingGates'] as const;

/** jobUpdateProblems validates an update of a Job. */
export function jobUpdateProblems(
  { spec = {} }: PartialObject<Job>,
  { spec: old = {}, status }: PartialObject<Job>,
): Problems {
  const problems: Problems = [];
  const completionsMayChange =
    spec.completionMode === 'Indexed' && spec.completions !== undefined && spec.completions === spec.parallelism;
  if (!completionsMayChange) problems.push(...same('completions', spec, old));
  problems.push(...selectorImmutable(spec, old));
  const mayChangeScheduling = old.suspend === true && !status?.startTime;
  if (!isSameJson(fixedTemplate(spec, mayChangeScheduling), fixedTemplate(old, mayChangeScheduling))) {
    problems.push(invalid('spec.template', spec.template, IMMUTABLE));
  }
  problems.push(
    ...same('completionMode', spec, old),
    ...same('podFailurePolicy', spec, old),
    ...same('backoffLimitPerIndex', spec, old),
    ...same('managedBy', spec, old),
    ...same('successPolicy', spec, old),
  );
  return problems;
}

function same(name: keyof JobSpec, spec: Spec, old: Spec): Problems {
  return isSameJson(spec[name], old[name]) ? [] : [invalid(`spec.${name}`, spec[name], IMMUTABLE)];
}

function fixedTemplate({ template }: Spec, mayChangeScheduling: boolean): unknown {
  if (!mayChangeScheduling) return template;
  const spec: PartialObject<PodSpec> = { ...template?.spec };
  for (const name of PLACEMENT) spec[name] = undefined;
  return { ...template, metadata: undefined, spec };
}
