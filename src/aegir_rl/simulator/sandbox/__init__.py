"""Sandboxes for untrusted Python: a program goes in, the values of its calls come out.

    with open_sandbox() as sandbox:                                    # bubblewrap; or "docker", "podman"
        execution = sandbox.run(Program(source, "clean", (("a b",),)), Limits(wall_seconds=2))

What the local sandbox stops; each line has an adversarial test of the same name (tests/unit/aegir_rl/simulator/test_sandbox_attacks.py),
run warm and cold
  - writing_outside_its_folder: everything but /tmp is read-only, and /tmp is the program's own, empty, in memory;
  - using_the_network: there is no interface but a loopback, and no socket other than AF_UNIX;
  - reading_secrets: environment, files and processes of the machine are not there; of its files, only the interpreter,
    the libraries of the system and time zones can be read;
  - forking_without_end: `Limits.processes` processes and threads, held by the kernel;
  - memory_of_one_process: `Limits.memory_bytes`, held by the kernel;
  - memory_of_many_processes: the same limit for their sum, looked at every 20 ms;
  - running_forever: wall time and CPU time of all processes, also if signals are ignored and pipes closed;
  - flooding_the_output: `Limits.output_bytes` on each stream, one MiB of results;
  - filling_the_disk: `Limits.file_bytes` a file, four times that in all;
  - leaving_processes_behind: when the program's first process ends, the kernel ends all others;
  - mounting_file_systems: mount, umount, chroot and pivot_root are not permitted;
  - making_namespaces: unshare, setns, and clone with such flags are not permitted;
  - gaining_rights: no capability, no set-user-id program, no way to either;
  - steering_other_processes: no tracing, and no signal reaches anything but the program's own processes;
  - calling_denied_system_calls: those of denied_calls.tsv (seccomp.py), of other architectures, and typing into a terminal;
  - following_links_and_archives: a link or an archive leads to nothing outside, and the host reads no file of a program;
  - reading_the_expected_values: they are compared on the host and never enter the sandbox;
  - forging_results: they are bounded JSON, and bytes that are none count as a crash; false values are only wrong answers;
  - finding_traces_of_earlier_programs: memory, files and modules of one program are gone before the next one starts.

What it does not stop
  - a hole in the kernel: programs share it with the machine. Use --docker with a virtual machine behind it against that;
  - side channels: time, caches and the load of the machine can be measured;
  - kernel memory that is charged to nobody, such as many empty files in a cold sandbox, as far as CPU time allows;
  - memory beyond the sum for up to 20 ms: in that time processes may touch what each of them may have;
  - wrong but honest-looking values: a verdict is as good as its cases.

Inside there is the interpreter of the host with the standard library alone, no shell and no other program. Hashes of texts
are the same in every run, so programs are deterministic as far as they are themselves.

program      nouns                              seccomp      the filter of system calls
backends     opening a sandbox by name          messages     orders and results as bytes
bubblewrap   the local sandbox                  harness      what runs inside
launch       starting bwrap                     watch        limits held from outside
container    Docker and Podman
"""

from aegir_rl.base.lazy import lazy_names

__getattr__ = lazy_names(__name__, __file__)
