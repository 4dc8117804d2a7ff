import { BowlineError } from '@bowline/runtime';
import type { InstallConfig, InstallFields } from './install-config.ts';
import { conflictsBetween, mergeInstall } from './merge-install.ts';

/**
 * InstallSource holds the sources of the fields of an install: the section of the file, and flags, which take
 * precedence.
 */
export interface InstallSource {
  readonly section: InstallConfig | undefined;
  readonly flags: InstallFields;
}

/**
 * resolveInstall returns the fields of the Deployment that runs some operators: those for all, then those of the
 * operators, then the flags. It throws BOWLINE_INSTALL_INVALID for fields that are only invalid in combination.
 */
export function resolveInstall(
  { section, flags }: InstallSource,
  operators: readonly string[],
  isElecting: boolean,
): InstallFields {
  const { perOperator: _, operators: byName = {}, ...common } = section ?? { perOperator: false };
  const named = operators.filter((name) => Object.hasOwn(byName, name));
  for (const [index, name] of named.entries()) {
    for (const other of named.slice(index + 1)) refuseConflicts(byName, name, other);
  }
  const fields = [...named.map((name) => byName[name] ?? {}), flags].reduce(mergeInstall, common);
  refuseProblems(fields, isElecting);
  return fields;
}

function refuseConflicts(byName: Readonly<Record<string, InstallFields>>, name: string, other: string): void {
  const [field] = conflictsBetween(byName[name] ?? {}, byName[other] ?? {});
  if (field === undefined) return;
  throw invalid(
    `install.operators.${name}.${field} and install.operators.${other}.${field} differ, but one Deployment runs both: create one for each operator with --per-operator, or set the field once, in install`,
  );
}

/** Reports what the API server would reject, or what would not work, before anything is applied. */
function refuseProblems({ replicas, volumes = [], volumeMounts = [] }: InstallFields, isElecting: boolean): void {
  if (replicas !== undefined && replicas > 1 && !isElecting) {
    throw invalid(
      `install.replicas: Invalid value: ${replicas}: without leader election several pods would reconcile the same objects: set it to 1, or leaderElection.enabled to true`,
    );
  }
  const known = volumes.map(({ name }) => name);
  const mount = volumeMounts.find(({ name }) => !known.includes(name));
  if (mount !== undefined) {
    throw invalid(
      `install.volumeMounts: Not found: ${JSON.stringify(mount.name)}: the mount ${mount.mountPath} needs a volume of this name in install.volumes`,
    );
  }
}

function invalid(message: string): BowlineError {
  return new BowlineError('BOWLINE_INSTALL_INVALID', message);
}
