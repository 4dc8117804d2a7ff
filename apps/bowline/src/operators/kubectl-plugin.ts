import { basename } from 'node:path';
import { BowlineError } from '@bowline/runtime';
import type { RegisteredOperator, Registry } from './registry.ts';

/**
 * pluginName returns the name of the kubectl plugin that a program is invoked as, given the path it was invoked by:
 * `/usr/bin/kubectl-hsm` is `hsm`. kubectl looks for an underscore where the user writes a dash. It returns undefined
 * for other programs.
 */
export function pluginName(path: string): string | undefined {
  const name = /^kubectl-(.+?)(?:\.[cm]?js|\.exe)?$/.exec(basename(path))?.[1];
  return name?.replaceAll('_', '-');
}

/** findPlugin returns the operator that declares a kubectl plugin. Throws BOWLINE_COMMAND_UNKNOWN. */
export function findPlugin(registry: Registry, name: string): RegisteredOperator {
  const found = Object.values(registry).find(({ kubectlPlugin }) => kubectlPlugin === name);
  if (found) return found;
  throw new BowlineError(
    'BOWLINE_COMMAND_UNKNOWN',
    `no operator declares the kubectl plugin ${JSON.stringify(name)}; run this program as \`bowline\`, or rename the link`,
  );
}
