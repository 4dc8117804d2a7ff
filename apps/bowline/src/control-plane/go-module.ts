import { createRequire } from 'node:module';
import { dirname } from 'node:path';

/**
 * goModule returns the folder of the Go module in @bowline/control-plane. The bundle is outside that package's folder,
 * so the module is resolved as a package. If it is not installed beside the bundle, undefined selects the library's
 * default.
 */
export function goModule(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve('@bowline/control-plane/binaries/go.mod'));
  } catch {
    return undefined;
  }
}
