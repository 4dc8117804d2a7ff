import { type Read, s } from '@bowline/runtime/resource';
import { syncProfileSpec } from '../api/sync-profile.ts';

/** agentProfile is the schema of a SyncProfile as agents read it: its spec, or why it must not be used. */
export const agentProfile = s.object({
  spec: syncProfileSpec.optional(),
  /** Why the profile is not accepted. */
  problem: s.string().maxLength(512).optional(),
});

/** AgentProfile is a SyncProfile as agents read it. */
export type AgentProfile = Read<typeof agentProfile>;
