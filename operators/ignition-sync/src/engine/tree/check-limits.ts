import { SyncError } from '../sync-error.ts';

/** TreeLimits bounds what a sync places. */
export interface TreeLimits {
  /** Defaults to 50,000. */
  readonly maxFiles?: number | undefined;
  /** In bytes. Defaults to 512 MiB. */
  readonly maxFileBytes?: number | undefined;
  /** In bytes, of all files that a sync writes. Defaults to 2 GiB. */
  readonly maxTotalBytes?: number | undefined;
}

const MIB = 1024 * 1024;

/** DEFAULT_LIMITS are the limits of a sync. */
export const DEFAULT_LIMITS = { maxFiles: 50_000, maxFileBytes: 512 * MIB, maxTotalBytes: 2_048 * MIB } as const;

/** checkLimits throws if there are too many files, or if a file of known size is too large. */
export function checkLimits(
  files: readonly (readonly [path: string, file: { readonly entry: { readonly size?: number | undefined } }])[],
  limits: TreeLimits = {},
): void {
  const { maxFiles = DEFAULT_LIMITS.maxFiles } = limits;
  if (files.length > maxFiles) {
    throw new SyncError('TooManyFiles', {
      path: files[maxFiles]?.[0] ?? '',
      problem: `the sync would place ${files.length} files, and at most ${maxFiles} are allowed`,
      remedy: 'map fewer folders or exclude files with excludePatterns',
    });
  }
  for (const [path, { entry }] of files) checkFileSize(path, entry.size ?? 0, limits);
}

/** checkFileSize throws if a file is too large. */
export function checkFileSize(path: string, size: number, { maxFileBytes }: TreeLimits = {}): void {
  const max = maxFileBytes ?? DEFAULT_LIMITS.maxFileBytes;
  if (size <= max) return;
  throw new SyncError('FileTooLarge', {
    path,
    problem: `the file has ${size} bytes, and at most ${max} are allowed`,
    remedy: 'exclude it with excludePatterns or remove it from the repository',
  });
}
