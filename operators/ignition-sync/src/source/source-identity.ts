import { createHmac, randomBytes } from 'node:crypto';
import { canonicalJson } from '@bowline/machinery';
import type { GitSecrets, GitSpec } from './git-secrets.ts';

/** GitSource identifies a repository together with how it is accessed. IgnitionSyncs with the same one share git operations. */
export interface GitSource {
  /** Equal for equal repositories, credentials and certificate authorities. It reveals none of them. */
  readonly id: string;
  /** The namespace of the Secrets. */
  readonly namespace: string;
  readonly git: GitSpec;
  /** The fingerprints of the host keys that are pinned. */
  readonly pinned: readonly string[];
}

/** SourceIdentities computes identities with a key of this process, so that they cannot be compared with guessed credentials. */
export class SourceIdentities {
  readonly #key = randomBytes(32);

  /** digest returns a short text that is equal for equal values. */
  digest(value: unknown): string {
    return createHmac('sha256', this.#key).update(canonicalJson(value)).digest('hex').slice(0, 32);
  }

  /** sourceOf returns the source of an IgnitionSync. */
  sourceOf(options: {
    readonly namespace: string;
    readonly git: GitSpec;
    readonly secrets: GitSecrets;
    /** The host keys that were pinned before this process started. */
    readonly pinned: readonly string[];
  }): GitSource {
    const { namespace, git, secrets, pinned } = options;
    // The keys that may sign are not part of it: they do not decide what is fetched.
    const { sshKey, knownHosts, appKey, token, ca } = secrets;
    const { appId, installationId, apiBaseURL } = git.auth?.githubApp ?? {};
    const username = git.auth?.token?.username;
    const id = this.digest({
      repo: git.repo,
      auth: { sshKey, knownHosts, appKey, token, username, appId, installationId, apiBaseURL },
      ca,
      pinned: isPinning(git) ? pinned : [],
    });
    return { id, namespace, git, pinned };
  }
}

/** isPinning reports whether the first host key that is seen is trusted from then on. */
export function isPinning(git: GitSpec): boolean {
  return git.auth?.sshKey !== undefined && git.auth.sshKey.knownHosts === undefined;
}
