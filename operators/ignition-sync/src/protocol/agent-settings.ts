import { type Read, s } from '@bowline/runtime/resource';
import { autoRollbackSpec, bidirectionalSpec, snapshotSpec } from '../api/experimental-spec.ts';
import { ignitionSpec, START_POLICY, startPolicy, validationSpec } from '../api/gateway-spec.ts';
import type { IgnitionSyncSpec } from '../api/ignition-sync.ts';
import { additionalFile, driftMode, normalizeSpec, pruneMode, sharedSpec } from '../api/source-spec.ts';
import type { Config } from '../config.ts';

/** agentSettings is the schema of the fields of an IgnitionSync, and of the operator's settings, that agents act on. */
export const agentSettings = s.object({
  siteNumber: s.string().maxLength(63).optional(),
  shared: sharedSpec.optional(),
  additionalFiles: s.array(additionalFile).maxItems(64).optional(),
  normalize: normalizeSpec.optional(),
  prune: pruneMode(),
  drift: driftMode(),
  bidirectional: bidirectionalSpec.optional(),
  validation: validationSpec.optional(),
  snapshots: snapshotSpec.optional(),
  autoRollback: autoRollbackSpec.optional(),
  ignition: ignitionSpec,
  startPolicy: startPolicy(),
  git: s.object({
    submodules: s.boolean(),
    lfs: s.boolean(),
    /** The user name that is sent with a token. */
    username: s.string().maxLength(255).optional(),
    timeout: s.duration(),
    maxRepositoryMiB: s.integer().min(1),
    allowPlainHttp: s.boolean(),
    proxy: s
      .object({ https: s.string().maxLength(2048).optional(), no: s.array(s.string().maxLength(253)).maxItems(64) })
      .optional(),
  }),
});

/** AgentSettings are the fields of an IgnitionSync, and of the operator's settings, that agents act on. */
export type AgentSettings = Read<typeof agentSettings>;

/** agentSettingsOf returns the settings of the agents of an IgnitionSync. */
export function agentSettingsOf(spec: IgnitionSyncSpec, config: Config): AgentSettings {
  const { git, siteNumber, shared, additionalFiles, normalize, prune, drift, ignition, deployment } = spec;
  return {
    siteNumber,
    shared,
    additionalFiles,
    normalize,
    prune,
    drift,
    bidirectional: spec.bidirectional,
    validation: spec.validation,
    snapshots: spec.snapshots,
    autoRollback: deployment?.autoRollback,
    ignition,
    startPolicy: spec.agent?.startPolicy ?? START_POLICY,
    git: {
      submodules: git.submodules,
      lfs: git.lfs,
      username: git.auth?.token?.username,
      timeout: config.gitTimeout,
      maxRepositoryMiB: config.maxRepositoryMiB,
      allowPlainHttp: config.allowPlainHttp,
      proxy: config.proxy,
    },
  };
}
