import { BowlineError } from '@bowline/machinery';
import { type GitUrl, parseGitUrl } from '../../git/address/git-url.ts';
import type { SyncMetadata } from '../../protocol/metadata.ts';

/** OriginChanged reports that the ConfigMap names another Git server than the one that the credentials are for. */
export class OriginChanged extends BowlineError {
  constructor(allowed: string, found: string) {
    super(
      'BOWLINE_IGNITION_ORIGIN_CHANGED',
      `the repository is at ${found}, and the credentials of this pod are for ${allowed}; recreate the pod if git.repo was changed on purpose`,
    );
  }
}

/**
 * repositoryAddress returns the address of the repository. Credentials were mounted for the origin that the pod was created with:
 * if the ConfigMap names another scheme, host or port, nothing is sent there.
 */
export function repositoryAddress(repo: string, { gitURL, settings }: SyncMetadata): GitUrl {
  const { allowPlainHttp } = settings.git;
  const allowed = parseGitUrl(repo, { allowPlainHttp });
  const found = parseGitUrl(gitURL, { allowPlainHttp });
  if (allowed.origin !== found.origin) throw new OriginChanged(allowed.origin, found.origin);
  return found;
}
