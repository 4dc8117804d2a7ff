import type { LabelSelector, PodTemplateSpec } from '@bowline/kubernetes';
import { type FieldProblem, isSameJson, labelSelector } from '@bowline/machinery';
import { podTemplateProblems } from '../core/pod/pod-spec-problems.ts';
import type { PartialObject } from '../shared/partial-object.ts';
import { forbidden, IMMUTABLE, invalid, invalidStruct, notSupported } from '../shared/problems.ts';
import { selectorProblems, selectorStruct } from '../shared/scheduling-problems.ts';

type Problems = FieldProblem[];

/** Workload is the part of a spec that creates pods and selects them. */
export interface Workload {
  readonly selector?: PartialObject<LabelSelector> | undefined;
  readonly template?: PartialObject<PodTemplateSpec> | undefined;
}

/** workloadSelectorProblems validates a selector that must not be empty. */
export function workloadSelectorProblems({ selector }: Workload, whose: string): Problems {
  const problems = selectorProblems('spec.selector', selector);
  if (selector && isEmpty(selector)) {
    problems.push(invalidStruct('spec.selector', selectorStruct(selector), `empty selector is invalid for ${whose}`));
  }
  return problems;
}

/** isEmpty reports whether a selector selects everything. */
export function isEmpty({ matchLabels = {}, matchExpressions = [] }: PartialObject<LabelSelector>): boolean {
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}

/** isValidSelector reports whether a selector is valid. */
export function isValidSelector(selector: PartialObject<LabelSelector> | undefined): boolean {
  return selectorProblems('', selector).length === 0;
}

/** labelMatchProblems reports that a workload would not select the pods that it creates. */
export function labelMatchProblems({ selector, template }: Workload): Problems {
  const labels = template?.metadata?.labels;
  if (!isValidSelector(selector) || (selector && isEmpty(selector))) return [];
  // The selector is valid. An absent one selects nothing.
  if (selector && labelSelector(selector as LabelSelector).matches(labels ?? {})) return [];
  return [invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')];
}

/** runningTemplateProblems validates the template of pods that run until they are deleted. */
export function runningTemplateProblems(workload: Workload, kind: string): Problems {
  const { template = {} } = workload;
  const problems = [...labelMatchProblems(workload), ...podTemplateProblems('spec.template', template)];
  const { restartPolicy = '', activeDeadlineSeconds } = template.spec ?? {};
  if (restartPolicy !== 'Always') {
    problems.push(notSupported('spec.template.spec.restartPolicy', restartPolicy, ['Always']));
  }
  if (activeDeadlineSeconds !== undefined) {
    const why = `activeDeadlineSeconds in ${kind} is not Supported`;
    problems.push(forbidden('spec.template.spec.activeDeadlineSeconds', why));
  }
  return problems;
}

/** selectorImmutable reports that the selector of a workload was changed. */
export function selectorImmutable({ selector }: Workload, { selector: old }: Workload): Problems {
  return isSameJson(selector, old) ? [] : [invalidStruct('spec.selector', selectorStruct(selector), IMMUTABLE)];
}
