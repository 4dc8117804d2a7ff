/**
 * The environment for programs that tests and proofs start. kube-apiserver and kubectl collect garbage less often, which saves
 * a fifth of the processor time of a start, within a limit of memory.
 */
export const testEnvironment: NodeJS.ProcessEnv = { GOGC: '400', GOMEMLIMIT: '2GiB', ...process.env };
