from aegir_rl.simulator.sandbox.backends import open_sandbox as open_sandbox
from aegir_rl.simulator.sandbox.program import CallResult as CallResult
from aegir_rl.simulator.sandbox.program import Execution as Execution
from aegir_rl.simulator.sandbox.program import Limits as Limits
from aegir_rl.simulator.sandbox.program import Program as Program
from aegir_rl.simulator.sandbox.program import Sandbox as Sandbox
