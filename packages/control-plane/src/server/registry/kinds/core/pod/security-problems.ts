import type { PodSpec, SecurityContext } from '@bowline/kubernetes';
import type { FieldProblem } from '@bowline/machinery';
import type { PartialObject } from '../../shared/partial-object.ts';
import { invalid, invalidStruct, notSupported, required } from '../../shared/problems.ts';

type Problems = FieldProblem[];

const MAX_ID = 2_147_483_647;
const ID = 'must be between 0 and 2147483647, inclusive';
const SECCOMP = ['Localhost', 'RuntimeDefault', 'Unconfined'];

/** securityContextProblems validates the security context of a container. */
export function securityContextProblems(
  at: string,
  context: PartialObject<SecurityContext> | undefined,
  spec: PartialObject<PodSpec>,
): Problems {
  if (!context) return [];
  const { privileged, allowPrivilegeEscalation, capabilities, procMount } = context;
  const problems = [
    ...idProblems(`${at}.runAsUser`, context.runAsUser),
    ...idProblems(`${at}.runAsGroup`, context.runAsGroup),
  ];
  if (procMount === 'Unmasked' && spec.hostUsers !== false) {
    problems.push(invalid(`${at}.procMount`, procMount, '`hostUsers` must be false to use `Unmasked`'));
  } else if (procMount !== undefined && !['Default', 'Unmasked'].includes(procMount)) {
    problems.push(notSupported(`${at}.procMount`, procMount, ['Default', 'Unmasked']));
  }
  problems.push(...seccompProblems(`${at}.seccompProfile`, context.seccompProfile));
  if (allowPrivilegeEscalation === false) {
    if (privileged)
      problems.push(invalid(at, context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'));
    if (capabilities?.add?.some((each) => each === 'CAP_SYS_ADMIN')) {
      const why = 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN';
      problems.push(invalid(at, context, why));
    }
  }
  return problems;
}

/** podSecurityProblems validates the security context of a pod. */
export function podSecurityProblems(path: string, spec: PartialObject<PodSpec>): Problems {
  const { securityContext: context, hostPID, shareProcessNamespace } = spec;
  if (!context) return [];
  const at = `${path}.securityContext`;
  const problems = [
    ...idProblems(`${at}.fsGroup`, context.fsGroup),
    ...idProblems(`${at}.runAsUser`, context.runAsUser),
    ...idProblems(`${at}.runAsGroup`, context.runAsGroup),
    ...(context.supplementalGroups ?? []).flatMap((id, index) => idProblems(`${at}.supplementalGroups[${index}]`, id)),
  ];
  if (shareProcessNamespace && hostPID) {
    problems.push(
      invalid(`${at}.shareProcessNamespace`, true, 'ShareProcessNamespace and HostPID cannot both be enabled'),
    );
  }
  const { fsGroupChangePolicy } = context;
  if (fsGroupChangePolicy !== undefined && !['OnRootMismatch', 'Always'].includes(fsGroupChangePolicy)) {
    problems.push(notSupported(`${at}.fsGroupChangePolicy`, fsGroupChangePolicy, ['Always', 'OnRootMismatch']));
  }
  problems.push(...seccompProblems(`${at}.seccompProfile`, context.seccompProfile));
  return problems;
}

function seccompProblems(at: string, profile: PartialObject<SecurityContext>['seccompProfile']): Problems {
  if (!profile) return [];
  const { type = '', localhostProfile } = profile;
  if (type === '') return [required(`${at}.type`, 'type is required when seccompProfile is set')];
  if (!SECCOMP.includes(type)) return [notSupported(`${at}.type`, type, SECCOMP)];
  if (type === 'Localhost' && !localhostProfile) {
    return [required(`${at}.localhostProfile`, 'must be set when seccomp type is Localhost')];
  }
  if (type !== 'Localhost' && localhostProfile !== undefined) {
    return [
      invalidStruct(
        `${at}.localhostProfile`,
        { Type: type, LocalhostProfile: localhostProfile },
        'can only be set when seccomp type is Localhost',
      ),
    ];
  }
  return [];
}

function idProblems(field: string, id: number | undefined): Problems {
  return id !== undefined && (id < 0 || id > MAX_ID) ? [invalid(field, id, ID)] : [];
}
