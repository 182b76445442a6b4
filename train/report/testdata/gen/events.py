"""Writes ../events.tfevents, with TensorBoard's own protocol buffers and record writer, for TestTensorBoard.
usage: python events.py   (needs tensorboard)"""
import os
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

TIME = 1700000000.25
events = [Event(wall_time=TIME, file_version="brain.Event:2")]
for step, values in [
    (1, [("train/loss", 0.6931471805599453), ("train/learning_rate", 0.001), ("train/right", 0.5)]),
    (300, [("train/loss", 1e-30), ("train/learning_rate", -2.5)]),
    (300, [("train/epoch_loss", 0.25), ("evaluation/accuracy", 0.96875)]),
]:
    events.append(Event(wall_time=TIME, step=step, summary=Summary(value=[Summary.Value(tag=t, simple_value=v) for t, v in values])))
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "events.tfevents")
with open(path, "wb") as f:
    w = RecordWriter(f)
    for e in events:
        w.write(e.SerializeToString())
    w.flush()
