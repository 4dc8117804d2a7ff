import { BowlineError } from '@bowline/machinery';

/** 2.38 has everything that we use of partial clones, and `safe.directory` in the environment. */
const OLDEST: readonly [number, number] = [2, 38];

/** requireVersion checks the output of `git version`, and returns the version. */
export function requireVersion(output: string): string {
  const [, version = '', major = '0', minor = '0'] = /^git version ((\d+)\.(\d+)[\w.]*)/.exec(output) ?? [];
  const isNewEnough = Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1]);
  if (version !== '' && isNewEnough) return version;
  throw new BowlineError(
    'BOWLINE_GIT_TOO_OLD',
    `git ${version === '' ? 'of an unknown version' : version} is too old: install git ${OLDEST.join('.')} or later`,
  );
}
