import type { Job } from '@bowline/kubernetes';
import { labelValueProblems, parseTime } from '@bowline/machinery';
import { shortDuration } from '../../age.ts';
import type { Draft } from '../../api-resource.ts';
import type { KindRules } from '../../built-in-strategy.ts';
import { podTemplateDefaults } from '../core/pod/pod-defaults.ts';
import { AGE, as, CONTAINERS, column, IMAGES, selectorText, wide } from '../shared/column.ts';
import { type PartialObject, partOf } from '../shared/partial-object.ts';
import { statusDefaults } from '../shared/status-defaults.ts';
import { dropZero } from '../shared/zero-values.ts';
import { jobProblems, jobUpdateProblems } from './job-problems.ts';

const MAX_INT32 = 2_147_483_647;
const CONTROLLER_UID = 'batch.kubernetes.io/controller-uid';
const JOB_NAME = 'batch.kubernetes.io/job-name';

/** jobRules holds the rules of Jobs. */
export const jobRules: KindRules = {
  applyDefaults(object) {
    const { spec = {}, status } = asJob(object);
    if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
    spec.parallelism ??= 1;
    spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : MAX_INT32;
    spec.completionMode ??= 'NonIndexed';
    spec.suspend ??= false;
    spec.manualSelector ??= false;
    spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed';
    for (const { onPodConditions } of spec.podFailurePolicy?.rules ?? []) {
      for (const pattern of onPodConditions ?? []) pattern.status ||= 'True';
    }
    podTemplateDefaults(partOf(spec, 'template'));
    if (status) dropZero(status, 'active', 'succeeded', 'failed');
    statusDefaults(status?.conditions, 'lastProbeTime', 'lastTransitionTime');
  },
  prepareForCreate(object) {
    const job = asJob(object);
    if (job.spec && !job.spec.manualSelector) ownPods(job);
  },
  validate(object, old) {
    const job = asJob(object);
    const problems = jobProblems(job);
    return old ? [...problems, ...jobUpdateProblems(job, asJob(old))] : problems;
  },
  columns: [
    column('Status', 'Status of the job.', (object) => statusText(as(object))),
    column('Completions', 'Number of succeeded pods out of the desired number.', (object) => {
      const { spec, status } = as<Job>(object);
      const succeeded = status?.succeeded ?? 0;
      if (spec?.completions !== undefined) return `${succeeded}/${spec.completions}`;
      const parallelism = spec?.parallelism ?? 0;
      return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
    }),
    column('Duration', 'Time that the job took or has been running.', (object, now) => {
      const { startTime, completionTime } = as<Job>(object).status ?? {};
      const begin = startTime ? parseTime(startTime) : undefined;
      if (begin === undefined) return '';
      return shortDuration((completionTime ? (parseTime(completionTime) ?? now) : now) - begin);
    }),
    AGE,
    CONTAINERS,
    IMAGES,
    wide('Selector', 'Labels that select the pods.', (object) => selectorText(as<Job>(object).spec?.selector)),
  ],
};

function asJob(object: Draft): PartialObject<Job> {
  // It was decoded with the schema of a Job.
  return object as PartialObject<Job>;
}

/**
 * ownPods generates a selector that no other job has, and the labels that it selects. The older label names are kept.
 */
function ownPods({ metadata = {}, spec = {} }: PartialObject<Job>): void {
  const { uid = '', name = '' } = metadata;
  // Validation rejects a name that is too long for a label. Without the labels, it does not report the name twice.
  const names = labelValueProblems(name).length === 0 ? { [JOB_NAME]: name, 'job-name': name } : {};
  const labels = { [CONTROLLER_UID]: uid, 'controller-uid': uid, ...names };
  const template = partOf(partOf(spec, 'template'), 'metadata');
  template.labels = { ...labels, ...template.labels };
  // A job without labels gets the labels of its pods.
  if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...template.labels };
  const selector = partOf(spec, 'selector');
  selector.matchLabels = { [CONTROLLER_UID]: uid, ...selector.matchLabels };
}

function statusText({ metadata, status }: PartialObject<Job>): string {
  const has = (type: string): boolean =>
    status?.conditions?.some((each) => each.type === type && each.status === 'True') ?? false;
  if (has('Complete')) return 'Complete';
  if (has('Failed')) return 'Failed';
  if (metadata?.deletionTimestamp) return 'Terminating';
  if (has('Suspended')) return 'Suspended';
  if (has('FailureTarget')) return 'FailureTarget';
  if (has('SuccessCriteriaMet')) return 'SuccessCriteriaMet';
  return 'Running';
}
