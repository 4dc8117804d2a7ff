import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { TokenError } from '../token/token-error.ts';
import type { Pkcs11Api, Pkcs11Package } from './pkcs11-api.ts';

/** PKCS11JS is the package that calls PKCS#11 modules, in the version that is tested. */
export const PKCS11JS = { name: 'pkcs11js', version: '2.1.7' } as const;

/** LoadPkcs11Options names the module to load. */
export interface LoadPkcs11Options {
  /** The path of the PKCS#11 module. */
  readonly library: string;
  /** The name or the folder of the package pkcs11js. Defaults to its name. */
  readonly pkcs11js?: string | undefined;
}

/** loadPkcs11 loads a PKCS#11 module. Call it in a process of its own: a module may crash it. */
export function loadPkcs11({ library, pkcs11js = PKCS11JS.name }: LoadPkcs11Options): Pkcs11Api {
  const api = new (requirePackage(pkcs11js).PKCS11)();
  if (!existsSync(library)) {
    const remedy = 'correct libraryPath, or use an image that contains the module';
    throw new TokenError('LibraryMissing', `the PKCS#11 module ${library} does not exist; ${remedy}`);
  }
  try {
    api.load(library);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n', 1)[0] : 'unknown error';
    throw new TokenError('LibraryMissing', `the PKCS#11 module ${library} cannot be loaded: ${reason}`);
  }
  return api;
}

/** The package is optional, and compiled when it is installed: it is loaded here, by its name, and nowhere else. */
function requirePackage(name: string): Pkcs11Package {
  try {
    // Not `import`: a folder can be given too, and the package is CommonJS.
    return createRequire(import.meta.url)(name) as Pkcs11Package;
  } catch (error) {
    const { code } = error as { code?: unknown };
    const isMissing = code === 'MODULE_NOT_FOUND' && String((error as Error).message).includes(`'${name}'`);
    const problem = isMissing ? 'is not installed' : 'cannot be loaded';
    const { version } = PKCS11JS;
    throw new TokenError(
      'Pkcs11Unavailable',
      `the package ${PKCS11JS.name} ${problem}; run "npm install ${PKCS11JS.name}@${version}" where bowline is installed (it needs Python, make and a C++ compiler), or use an image that contains it`,
      { cause: error },
    );
  }
}
