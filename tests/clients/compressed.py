"""A grpcio client that compresses: compressed.py FOLDER_OF_GENERATED_CODE ADDRESS taken|refused"""

import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])

import grpc
from sudoku.v1 import sudoku_pb2 as pb
from sudoku.v1 import sudoku_pb2_grpc as rpc

address, expected = sys.argv[2:]
lines = (Path(__file__).parent.parent / "data" / "easy.txt").read_text().splitlines()
BOARDS = [line for line in lines if not line.startswith("#")]


def answers(solver):
    one = solver.Solve(pb.SolveRequest(board=BOARDS[0])).result
    batch = [pb.SolveBatchRequest(boards=BOARDS)] * 20
    results = [result for response in solver.SolveBatch(iter(batch)) for result in response.results]
    assert len(results) == 20 * len(BOARDS), len(results)
    return [(result.status, list(result.solutions)) for result in [one, *results]]


def refusal(call):
    try:
        call()
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.UNIMPLEMENTED, error
        assert "--compression of the server is off" in error.details(), error
    else:
        raise AssertionError("accepted")


gzip = grpc.insecure_channel(address, compression=grpc.Compression.Gzip)
# grpcio accepts gzip unless it is told to accept nothing but identity: bit 0.
plain = grpc.insecure_channel(address, [("grpc.compression_enabled_algorithms_bitset", 1)])
with gzip, plain:
    solver = rpc.SudokuSolverStub(gzip)
    if expected == "taken":
        assert answers(solver) == answers(rpc.SudokuSolverStub(plain))
    else:
        # Short messages go out as they are, but a call that may hold compressed ones is named so.
        refusal(lambda: solver.Solve(pb.SolveRequest(board=BOARDS[0])))
        refusal(lambda: list(solver.SolveBatch(iter([pb.SolveBatchRequest(boards=BOARDS)]))))
        answers(rpc.SudokuSolverStub(plain))
print("all ok")
