"""Sandboxes for untrusted Python: a program goes in, the values of its calls come out.

    with open_sandbox() as sandbox:                                    # bubblewrap; or "docker", "podman"
        execution = sandbox.run(Program(source, "clean", (("a b",),)), Limits(wall_seconds=2))

What the local sandbox stops; each line has an adversarial test of the same name (tests/unit/aegir_rl/simulator/test_sandbox_attacks.py),
run warm and cold
  - writing_outside_its_folder: everything but /tmp is read-only, and /tmp is the program's own, empty, in memory;
  - using_the_network: there is no interface but a loopback, and no socket other than AF_UNIX;
  - reading_secrets: environment, files and processes of the machine are not there; of its files, only time zones, and
    copies of the interpreter, its standard library and the shared libraries of both can be read;
  - forking_without_end: `Limits.processes` processes and threads, held by the kernel;
  - memory_of_one_process: `Limits.memory_bytes`, held by the kernel;
  - memory_of_many_processes: the same limit for their sum, looked at every 20 ms;
  - memory_that_no_process_maps: shared memory without a file, from mmap or /dev/zero, whose pages stay when they are unmapped, is
    not permitted; private memory, and shared mappings of files, are;
  - memory_behind_an_ended_thread: a process whose main thread has ended counts like any other;
  - cpu_time_of_children: the CPU time that is limited and stated is that of all processes, however they ended: orphans, children
    that nobody waits for, and those that still run when the program ends;
  - running_forever: wall time and CPU time of all processes, also if signals are ignored and pipes closed;
  - flooding_the_output: `Limits.output_bytes` on each stream, one MiB of results;
  - filling_the_disk: `Limits.file_bytes` a file, four times that in all;
  - leaving_processes_behind: when the program's first process ends, the kernel ends all others;
  - mounting_file_systems: mount, umount, chroot and pivot_root are not permitted;
  - making_namespaces: unshare, setns, and clone with such flags are not permitted;
  - gaining_rights: no capability, no set-user-id program, no way to either;
  - running_other_programs: execve is not permitted, and there is no program but the interpreter and its loader;
  - locking_files_of_the_machine: no flock, lease or watch on any file, and mounts do not show where files lie on the machine;
  - dumping_memory: no process can be dumped, so a crash starts nothing on the machine;
  - steering_other_processes: no tracing, and no signal reaches anything but the program's own processes;
  - calling_denied_system_calls: those of denied_calls.tsv (seccomp.py), of other architectures, and typing into a terminal;
  - following_links_and_archives: a link or an archive leads to nothing outside, and the host reads no file of a program;
  - reading_the_expected_values: they are compared on the host and never enter the sandbox;
  - reading_arguments_ahead: the arguments of a call enter the sandbox when the call before it is answered;
  - importing_the_answer: of modules there are those of the standard library that interpreter.py lists, and the packages
    that the user mounts; this package is not there, wherever the interpreter has it;
  - forging_errors: the host cuts them to 520 characters and replaces what is not printable;
  - forging_results: they are bounded JSON, and bytes that are none count as a crash; false values are only wrong answers;
  - finding_traces_of_earlier_programs: memory, files and modules of one program are gone before the next one starts.

What it does not stop
  - a hole in the kernel: programs share it with the machine. Use --docker with a virtual machine behind it against that;
  - side channels: time, caches and the load of the machine can be measured;
  - kernel memory that is charged to nobody, such as many empty files in a cold sandbox, as far as CPU time allows;
  - memory beyond the sum for up to 20 ms: in that time processes may touch what each of them may have;
  - native code: a program may map and run machine code of its own, with the rights it has;
  - record locks (fcntl) on files that it can read, time zones and packages among them, for as long as it runs;
  - names: the version of the interpreter, of the kernel and of shared libraries, the user id, and the kind of the file
    system that holds time zones and packages can be read, and the folder of each package; /proc/self/mountinfo shows the device
    and the mount options of that file system, those of /usr/share/zoneinfo among them;
  - wrong but honest-looking values: a verdict is as good as its cases.

Hashes of texts are the same in every run, so programs are deterministic as far as they are themselves.

program      nouns                              seccomp      the filter of system calls
backends     opening a sandbox by name          messages     orders and results as bytes
bubblewrap   the local sandbox                  calls        sending arguments call by call
launch       starting bwrap                     harness      what runs inside
interpreter  the files of a sandbox             watch        limits held from outside
container    Docker and Podman
"""

from aegir_rl.base.lazy import lazy_names

__getattr__ = lazy_names(__name__, __file__)
