import type { Container, PodSpec, PodTemplateSpec, SecurityContext } from '@bowline/kubernetes/core-v1';
import { type Component, objectLabels } from './labels.ts';
import type { OperandInput } from './operand-input.ts';
import { proxyVolumes, withProxy } from './proxy.ts';

/** The time for a pod to end, so that a cleanup takes less than 30 s. */
const GRACE_SECONDS = 20;

/** RESTRICTED is the security context of containers that need no privileges. */
export const RESTRICTED: SecurityContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
  seccompProfile: { type: 'RuntimeDefault' },
};

/** PodContent is what differs between the pods of operands. */
export interface PodContent {
  readonly serviceAccountName: string;
  readonly containers: readonly Container[];
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly volumes: NonNullable<PodSpec['volumes']>;
  readonly more?: Partial<PodSpec> | undefined;
}

/** podTemplate returns the template of an operand's pods. */
export function podTemplate(input: OperandInput, of: Component, content: PodContent): PodTemplateSpec {
  const { config } = input;
  const resources = resourcesOf(input);
  const { initContainers } = content.more ?? {};
  return {
    metadata: {
      labels: objectLabels(input, of),
      ...(content.annotations ? { annotations: content.annotations } : {}),
    },
    spec: {
      serviceAccountName: content.serviceAccountName,
      terminationGracePeriodSeconds: GRACE_SECONDS,
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      ...(config.imagePullSecrets.length > 0
        ? { imagePullSecrets: config.imagePullSecrets.map((name) => ({ name })) }
        : {}),
      ...schedulingOf(input),
      ...content.more,
      ...(initContainers ? { initContainers: initContainers.map((container) => withProxy(input, container)) } : {}),
      containers: content.containers.map((container) =>
        withProxy(input, resources ? { ...container, resources } : container),
      ),
      volumes: [...content.volumes, ...proxyVolumes(input)],
    },
  };
}

/** The kinds accept any text for operators and effects: the API server validates them when it validates the pods. */
function schedulingOf({ pods }: OperandInput): Partial<PodSpec> {
  const { affinity, tolerations, nodeSelector, priorityClassName, topologySpreadConstraints } = pods;
  const given = { affinity, tolerations, nodeSelector, priorityClassName, topologySpreadConstraints };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function resourcesOf({ pods: { resources } }: OperandInput): Container['resources'] | undefined {
  const requests = quantities(resources?.requests);
  const limits = quantities(resources?.limits);
  return requests || limits ? { ...(requests ? { requests } : {}), ...(limits ? { limits } : {}) } : undefined;
}

function quantities(given: Readonly<Record<string, string | number>> | undefined): Record<string, string> | undefined {
  const entries = Object.entries(given ?? {}).map(([name, quantity]) => [name, String(quantity)] as const);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** asUser returns a pod's security context for a user without privileges; OpenShift chooses one itself. */
export function asUser({ isOpenShift }: OperandInput): Partial<PodSpec> {
  const seccompProfile = { type: 'RuntimeDefault' } as const;
  return isOpenShift
    ? {}
    : { securityContext: { seccompProfile, runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 } };
}
