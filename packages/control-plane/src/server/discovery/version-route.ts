import type { Route } from '../http/api-request.ts';

/**
 * SERVER_VERSION is the Kubernetes version that the server implements, with a suffix that marks it as another
 * implementation.
 */
export const SERVER_VERSION = 'v1.35.8+bowline';

/** versionRoute serves the version of the server. */
export const versionRoute: Route = ({ path }) => {
  if (path !== '/version' && path !== '/version/') return undefined;
  const document = {
    major: '1',
    minor: '35',
    emulationMajor: '1',
    emulationMinor: '35',
    minCompatibilityMajor: '1',
    minCompatibilityMinor: '34',
    gitVersion: SERVER_VERSION,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    // Clients only print these values; the server does not use Go.
    goVersion: `node ${process.version}`,
    compiler: 'none',
    platform: `${process.platform}/${process.arch}`,
  };
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(document) };
};
