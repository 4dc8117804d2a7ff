/**
 * The supervisor and its parent exchange lines of JSON: requests on the supervisor's standard input, events on its standard
 * output. When the input closes, the parent has exited.
 */

/** ProcessSpec describes a program that the supervisor runs. */
export interface ProcessSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The file that standard output and standard error are appended to. */
  readonly logFile: string;
  /** The stop signal if the folder is persistent. With a temporary folder the process is always killed. */
  readonly stopSignal: 'SIGTERM' | 'SIGKILL';
}

/** SupervisorSignal is a signal that may be sent to a supervised process. */
export type SupervisorSignal = 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT';

/** SupervisorRequest is one line sent to the supervisor. */
export type SupervisorRequest =
  /** The first line. Without a folder the supervisor creates a temporary one and removes it when it exits. */
  | { readonly op: 'open'; readonly folder?: string | undefined }
  | { readonly op: 'start'; readonly spec: ProcessSpec }
  | { readonly op: 'signal'; readonly name: string; readonly signal: SupervisorSignal };

/** SupervisorEvent is one line sent by the supervisor. */
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
