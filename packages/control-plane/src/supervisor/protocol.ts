/**
 * The supervisor and whoever started it talk in lines of JSON: requests on the supervisor's standard input, events on its
 * standard output. The input is also the life line: when it closes, whoever started it is gone.
 */

/** ProcessSpec is a program that the supervisor runs. */
export interface ProcessSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Where standard output and standard error are appended to. */
  readonly logFile: string;
  /** How it is asked to stop when its data outlives it. A temporary one is always killed. */
  readonly stopSignal: 'SIGTERM' | 'SIGKILL';
}

/** SupervisorSignal is what may be sent to a supervised process. */
export type SupervisorSignal = 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT';

/** SupervisorRequest is one line to the supervisor. */
export type SupervisorRequest =
  /** The first line. Without a folder the supervisor makes a temporary one and removes it at its end. */
  | { readonly op: 'open'; readonly folder?: string | undefined }
  | { readonly op: 'start'; readonly spec: ProcessSpec }
  | { readonly op: 'signal'; readonly name: string; readonly signal: SupervisorSignal };

/** SupervisorEvent is one line from the supervisor. */
export type SupervisorEvent =
  | { readonly event: 'opened'; readonly folder: string }
  | { readonly event: 'started'; readonly name: string; readonly pid: number }
  | { readonly event: 'refused'; readonly name: string; readonly message: string }
  | {
      readonly event: 'exited';
      readonly name: string;
      readonly pid: number;
      readonly code: number | null;
      readonly signal: string | null;
    };
